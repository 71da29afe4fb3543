import type { RowOf } from '../columns.ts';
import type { SessionDate } from '../market-time.ts';
import type { offExchangeColumns } from './off-exchange-columns.ts';

/** Minimum number of executions of a published row (methodology 6). */
export const disclosureThreshold = 3;

/** Minimum number of sessions with trades in a published price bucket (spec 4.18). */
export const disclosureSessions = 2;

/** Number of rows in a page: the default, and the maximum (spec 4.18). */
export const offExchangeLimits = { default: 500, max: 5000 };

/** The rows of each off-exchange table by its name (spec 2.19, contract-notes 3). */
export type OffExchangeRows = { [T in keyof typeof offExchangeColumns]: RowOf<(typeof offExchangeColumns)[T]> };
export type OffExchangeTable = keyof OffExchangeRows;

/** A session's off-exchange total. */
export type ActivityRow = OffExchangeRows['activity'];
/** A session's off-exchange trading of one kind; the kinds of a session add up to its activity. */
export type CompositionRow = OffExchangeRows['composition'];
/** A price bucket in which off-exchange trading gathered over the sessions up to `date`. */
export type ConcentrationRow = OffExchangeRows['concentration'];
/** A session's off-exchange trading at one price. */
export type ProfileRow = OffExchangeRows['profile'];

/** Published figures of a symbol's session besides its rows. */
export interface OffExchangeSession {
  symbol: string;
  sessionDate: SessionDate;
  /** Time of the computation. */
  asOfMs: number;
  /** Categories, price buckets and price levels not published under their own name. */
  suppressedCategories: number;
  suppressedBuckets: number;
  suppressedLevels: number;
  /** Null below the disclosure threshold: then nothing of the session is published. */
  activity: Omit<ActivityRow, 'date'> | null;
}
