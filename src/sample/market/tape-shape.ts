import { regularSession } from '../../domain/calendar.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import { hourMs, minuteMs } from '../../domain/units.ts';

/** Size of the tapes. */
export interface TapeShape {
  /** Option prints of a session, about. */
  optionPrints: number;
  /** Large trades and near misses planted among them. */
  plants: number;
  /** Stock prints of a session, about; every minute has the four that its bar is made of at least. */
  stockPrints: number;
  /** The tickers that have tapes; all when absent. */
  symbols?: readonly string[];
  /** A ticker with additional prints, several ticks per second, and their number. Absent = none. */
  busiest?: { symbol: string; prints: number };
}

/** The tapes of the sample market. */
export const tapeShape: TapeShape = {
  optionPrints: 100_000,
  plants: 400,
  stockPrints: 100_000,
  busiest: { symbol: 'SPY', prints: 120_000 },
};

/** Stocks trade before the open from this minute of the New York day on. */
export const tapeStartMinute = 8 * 60;

/** Time for which stocks trade beyond the close, ms. */
export const extendedMs = 2 * hourMs;

/** Some options trade a quarter of an hour beyond the close; these do not, but who reads them cannot know. */
export const lateCloseMs = 15 * minuteMs;

/** When the last print of a session has come, epoch ms. */
export function tapeEndMs(session: SessionDate): number {
  return regularSession(session)!.closeMs + extendedMs;
}
