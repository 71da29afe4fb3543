import type { Tier } from '../../../platform/config/tier.ts';

export const symbolClasses = ['equity', 'index'] as const;
export type SymbolClass = (typeof symbolClasses)[number];

export const tenorFrames = ['daily', 'weekly', 'monthly'] as const;
export type TenorFrame = (typeof tenorFrames)[number];

export const instrumentTypes = ['common_equity', 'etf', 'index', 'adr_other', 'unknown'] as const;
export type InstrumentType = (typeof instrumentTypes)[number];

/**
 * A ticker known to the service. `registered` separates the registry (spec 2.3: symbols with analytics and entitlement)
 * from the larger ticker directory (real tickers, bars only).
 */
export interface SymbolEntry {
  symbol: string;
  name: string;
  class: SymbolClass;
  registered: boolean;
  /** Number of days, from today, of expiries that the option chain covers. */
  windowDays: number;
  tenorFrame: TenorFrame;
  minTier: Tier;
  requiresAttestation: boolean;
  /** Sector of the screener; null groups under `other`. */
  sector: string | null;
  instrumentType: InstrumentType;
}
