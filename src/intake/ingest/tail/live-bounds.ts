import { tapeSettings } from '../../../core/analytics/methodology.ts';

/*
 * From a print to its readers: it waits for earlier prints by event time, an event besides for a next print of its own;
 * then for a write that may have begun just before, for the next write to be due, and for that write. Event time goes
 * on with any line of the tape.
 */

/**
 * Time for which prints wait for earlier ones, ms of event time: events are sent soon, and again if a late print
 * changes them.
 */
export const liveHoldMs = 250;

/** Maximum interval at which the lines of a live tape are written, ms. */
export const liveCommitEveryMs = 100;

/**
 * Longest write, ms, with which prints are visible within `visibleWithinMs`; `docs/benchmarks.md` has the amount of
 * data for it.
 */
export const liveCommitBudgetMs = 275;

/** Time within which a print of a live tape is visible to clients, ms, if writes stay within their budget. @testonly */
export const visibleWithinMs = liveHoldMs + tapeSettings.sweepGapMs + 2 * liveCommitBudgetMs + liveCommitEveryMs;
