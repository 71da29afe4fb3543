import type { SessionDate } from '../market-time.ts';

export const coverageStatuses = ['observed_live', 'eod_reconciled'] as const;
export type CoverageStatus = (typeof coverageStatuses)[number];

/** The observed part of a session's tape (spec 2.12). */
export interface Coverage {
  status: CoverageStatus;
  /** Never true while live. */
  complete: boolean;
  sessionDate: SessionDate;
  observedFromMs: number;
  observedThroughMs: number;
  registryVersion: number;
  /** True if premium assumes the standard 100-share multiplier. */
  standardMultiplierAssumed: boolean;
}

/** The coverage as of `nowMs`: later observations are not known yet, and nothing unfinished counts as complete. */
export function coverageAt(coverage: Coverage, nowMs: number): Coverage {
  if (coverage.observedThroughMs > nowMs) {
    return { ...coverage, status: 'observed_live', complete: false, observedThroughMs: nowMs };
  }
  return { ...coverage, complete: coverage.complete && coverage.status === 'eod_reconciled' };
}
