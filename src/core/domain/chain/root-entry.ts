import type { SessionDate } from '../market-time.ts';

export type ExerciseStyle = 'european' | 'american';
/** Time at which the contract's value is fixed on its expiry date: the open (AM) or the close (PM). */
export type Settlement = 'am' | 'pm';

/** Deliverable of a root's contracts: the standard lot, or the result of a corporate action. */
export type Deliverable = 'standard' | 'adjusted';

/** A line of the dataset `roots`: the terms of a root's contracts in the sessions from `from` to `to`. */
export interface RootEntry {
  root: string;
  /** The ticker whose price the option follows, and whose entitlement applies. */
  underlying: string;
  style: ExerciseStyle;
  settlement: Settlement;
  /**
   * Shares (or index units) per contract; null = unknown, for example for an adjusted deliverable without stated terms.
   */
  multiplier: number | null;
  deliverable: Deliverable;
  /** True if its options are on a forward of the underlying that parity with the spot does not bind (VIX). */
  onForwards: boolean;
  /** First and last session, included; null = no bound. */
  from: SessionDate | null;
  to: SessionDate | null;
}
