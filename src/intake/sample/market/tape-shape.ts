import { regularSession } from '../../../core/domain/calendar.ts';
import type { SessionDate } from '../../../core/domain/market-time.ts';
import { hourMs, minuteMs } from '../../../platform/runtime/clock.ts';

/** Size of the tapes. */
export interface TapeShape {
  /** Approximate number of option prints per session. */
  optionPrints: number;
  /** Number of large trades and near misses planted among them. */
  plants: number;
  /** Approximate number of stock prints per session; every minute has at least the four of its bar. */
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

/** Minute of the New York day from which stocks trade before the open. */
export const tapeStartMinute = 8 * 60;

/** Time for which stocks trade beyond the close, ms. */
export const extendedMs = 2 * hourMs;

/** Some options trade a quarter of an hour beyond the close; these do not, but a reader cannot know. */
export const lateCloseMs = 15 * minuteMs;

/** Time of the last print of a session, epoch ms. */
export function tapeEndMs(session: SessionDate): number {
  return regularSession(session)!.closeMs + extendedMs;
}
