import type { RowOf } from '../columns.ts';
import type { sampleColumns, solveColumns } from './greeks-columns.ts';

/** Samples stored per contract, one per minute (methodology 2). */
export const greeksSeriesLength = 390;

/** Maximum age of a quote, ms (methodology 2, mark). */
export const quoteAgeMs = 90_000;

/** One minute's solve of a contract (spec 2.9). Null = not solvable from that mark. */
export interface GreeksSample extends RowOf<typeof sampleColumns> {
  /** The minute boundary. */
  tsMs: number;
}

/** Sources of a mark (methodology 2). */
export const markSources = ['mid', 'last', 'close'] as const;
export type MarkSource = (typeof markSources)[number];

/** A contract's newest solve (spec 2.9). */
export interface GreeksSolve extends GreeksSample, RowOf<typeof solveColumns> {
  markSource: MarkSource;
}
