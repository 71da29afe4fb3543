import { closeMinute, sessionMinutes, tradingDayAtOrBefore } from '../calendar.ts';
import { exchangeInstant, type SessionDate } from '../market-time.ts';

export type ExerciseStyle = 'european' | 'american';
/** When the contract's value is fixed on its expiry date: at the open (AM) or at the close (PM). */
export type Settlement = 'am' | 'pm';

/** Properties that a root gives its contracts (methodology 2, 7). */
export interface OptionRoot {
  root: string;
  /** The ticker whose price the option follows and whose entitlement decides. */
  underlying: string;
  style: ExerciseStyle;
  settlement: Settlement;
  /** Shares (or index units) per contract. */
  multiplier: number;
  /** False when its options are on a forward of the underlying that parity with the spot does not bind (VIX). */
  followsSpot: boolean;
  /** A deliverable changed by a corporate action: stays in flow, out of GEX. */
  adjusted: boolean;
}

// Roots that are not the ticker itself. Sources: Cboe product specifications; OCC class-share convention.
const underlyings: Record<string, string> = {
  SPXW: 'SPX',
  NDXP: 'NDX',
  RUTW: 'RUT',
  VIXW: 'VIX',
  BRKB: 'BRK.B',
  BRKA: 'BRK.A',
  BFB: 'BF.B',
};
const europeanRoots = new Set(['SPX', 'SPXW', 'XSP', 'NDX', 'NDXP', 'RUT', 'RUTW', 'DJX', 'VIX', 'VIXW', 'XEO']);
const forwardRoots = new Set(['VIX', 'VIXW']);
// A.M.-settled: the standard monthly index roots and VIX; their weekly twins settle at the close, VIXW at the open.
const amRoots = new Set(['SPX', 'NDX', 'RUT', 'DJX', 'VIX', 'VIXW']);

/**
 * Standard properties of a root: known index roots by name, everything else American, PM-settled, 100 shares; a
 * trailing digit marks an adjusted deliverable.
 */
export function optionRoot(root: string): OptionRoot {
  const adjusted = /^[A-Z]+\d$/.test(root);
  const base = adjusted ? root.slice(0, -1) : root;
  return {
    root,
    underlying: underlyings[base] ?? base,
    style: europeanRoots.has(root) ? 'european' : 'american',
    settlement: amRoots.has(root) ? 'am' : 'pm',
    multiplier: 100,
    followsSpot: !forwardRoots.has(root),
    adjusted,
  };
}

/** The ticker a root belongs to: `SPXW` → `SPX`, `BRKB` → `BRK.B`, `TSLA1` → `TSLA`. */
export function underlyingOf(root: string): string {
  return optionRoot(root).underlying;
}

/**
 * The last session of contracts that are dated `expiry`: that date, or the trading day before it. Monthly expiries
 * before February 2015 are dated Saturday.
 */
export function lastSession(expiry: SessionDate): SessionDate {
  return tradingDayAtOrBefore(expiry);
}

/**
 * A contract's last instant, from which on it is worth what it settles at: 09:30 or the close (16:00, half day 13:00)
 * of its last session, New York.
 */
export function lastInstant(expiry: SessionDate, settlement: Settlement): number {
  const session = lastSession(expiry);
  return exchangeInstant(session, settlement === 'am' ? sessionMinutes.open : closeMinute(session));
}
