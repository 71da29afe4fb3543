import type { SessionDate } from '../domain/market-time.ts';
import type { Store } from './connection.ts';

/** The newest price a live tape gave of a symbol. */
export interface LiveQuote {
  symbol: string;
  /** The session the price belongs to. */
  sessionDate: SessionDate;
  /** Dollars. */
  spot: number;
  /** The price event, epoch ms. */
  eventTsMs: number;
  /** Shares traded in the session so far. */
  volume: number;
  /** Close of the session before, dollars; null when the tape did not say. */
  officialClose: number | null;
}

/** The live quotes of several symbols in one statement; a symbol without one is absent. */
export async function readLiveQuotes(store: Store, symbols: readonly string[]): Promise<Map<string, LiveQuote>> {
  const { rows } = await store.pool.query<LiveQuote>({
    name: 'live-quotes',
    text: `SELECT symbol, session_date AS "sessionDate", spot, event_ts_ms AS "eventTsMs", volume, official_close AS "officialClose"
           FROM live_quotes WHERE symbol = ANY($1)`,
    values: [symbols],
  });
  return new Map(rows.map((row) => [row.symbol, row]));
}
