import type { SessionDate } from '../domain/market-time.ts';
import { toNumber } from './checked-number.ts';
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
  const rows = await store.prisma.liveQuote.findMany({ where: { symbol: { in: [...symbols] } } });
  return new Map(
    rows.map((row) => [row.symbol, { ...row, eventTsMs: toNumber(row.eventTsMs), volume: toNumber(row.volume) }]),
  );
}
