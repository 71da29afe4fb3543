import type { SessionDate } from './market-time.ts';

export const coverageStatuses = ['observed_live', 'eod_reconciled'] as const;
export type CoverageStatus = (typeof coverageStatuses)[number];

/** What was observed of a session's tape (spec 2.12). */
export interface Coverage {
  status: CoverageStatus;
  /** Never true while live. */
  complete: boolean;
  sessionDate: SessionDate;
  observedFromMs: number;
  observedThroughMs: number;
  registryVersion: number;
  /** True when premium used the standard 100-share multiplier. */
  standardMultiplierAssumed: boolean;
}
