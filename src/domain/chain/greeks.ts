/** Samples stored per contract, one per minute (methodology 2). */
export const greeksSeriesLength = 390;

/** Age above which a quote is no longer held, ms (methodology 2, mark). */
export const quoteAgeMs = 90_000;

/** One minute's solve of a contract (spec 2.9). Null = not solvable from that mark. */
export interface GreeksSample {
  /** The minute boundary. */
  tsMs: number;
  /** Annualized fraction: 0.1286 = 12.86 %. */
  iv: number | null;
  delta: number | null;
  /** Change of delta per $1. */
  gamma: number | null;
  /** Option price used by the solve, dollars a share. */
  mark: number;
}

/** Where a mark came from (methodology 2). */
export const markSources = ['mid', 'last', 'close'] as const;
export type MarkSource = (typeof markSources)[number];

/** A contract's newest solve (spec 2.9). */
export interface GreeksSolve extends GreeksSample {
  markSource: MarkSource;
  /** Dollars a share; null unless a quote was held at the solve. */
  bid: number | null;
  ask: number | null;
}
