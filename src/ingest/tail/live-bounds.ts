import { tapeSettings } from '../../analytics/methodology.ts';

/*
 * From a print to its readers: it waits for earlier prints by event time, an event besides for a next print of its own;
 * then for a write that may have begun just before, for the next write to be due, and for that write. Event time goes
 * on with any line of the tape.
 */

/**
 * Prints wait this long for earlier ones, ms of event time: events are sent soon, and sent again when a late print
 * changes them.
 */
export const liveHoldMs = 250;

/** Interval at which the lines of a live tape are written at least, ms. */
export const liveCommitEveryMs = 100;

/**
 * Longest write, ms, with which its prints are seen within `visibleWithinMs`; `docs/benchmarks.md` says of how much it
 * does.
 */
export const liveCommitBudgetMs = 275;

/** A print of a live tape is visible to clients within this time, ms, if writes stay within their budget. @testonly */
export const visibleWithinMs = liveHoldMs + tapeSettings.sweepGapMs + 2 * liveCommitBudgetMs + liveCommitEveryMs;
