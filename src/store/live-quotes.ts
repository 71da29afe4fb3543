import type { SessionDate } from '../domain/market-time.ts';
import { readFrom, type Store } from './connection.ts';
import type { Transaction } from './transaction.ts';

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
  const { rows } = await readFrom(store).query<LiveQuote>({
    name: 'live-quotes',
    text: `SELECT symbol, session_date AS "sessionDate", spot, event_ts_ms AS "eventTsMs", volume, official_close AS "officialClose"
           FROM live_quotes WHERE symbol = ANY($1)`,
    values: [symbols],
  });
  return new Map(rows.map((row) => [row.symbol, row]));
}

/** Writes live quotes, each replacing the symbol's, unless that is newer. */
export async function saveLiveQuotes(tx: Transaction, quotes: readonly LiveQuote[]): Promise<void> {
  await tx.query(
    `INSERT INTO live_quotes (symbol, session_date, spot, event_ts_ms, volume, official_close)
     SELECT * FROM unnest($1::text[], $2::text[], $3::float8[], $4::bigint[], $5::bigint[], $6::float8[])
     ON CONFLICT (symbol) DO UPDATE SET session_date = excluded.session_date, spot = excluded.spot,
       event_ts_ms = excluded.event_ts_ms, volume = excluded.volume, official_close = excluded.official_close
     WHERE live_quotes.session_date <= excluded.session_date`,
    [
      quotes.map((quote) => quote.symbol),
      quotes.map((quote) => quote.sessionDate),
      quotes.map((quote) => quote.spot),
      quotes.map((quote) => quote.eventTsMs),
      // A bigint column holds whole shares.
      quotes.map((quote) => Math.floor(quote.volume)),
      quotes.map((quote) => quote.officialClose),
    ],
  );
}

/** The instant of the newest price that a live tape gave of any symbol, epoch ms; null when none did. */
export async function latestLiveEvent(store: Store): Promise<number | null> {
  const { rows } = await readFrom(store).query<{ at: number | null }>('SELECT max(event_ts_ms) AS at FROM live_quotes');
  return rows[0]!.at === null ? null : Number(rows[0]!.at);
}
