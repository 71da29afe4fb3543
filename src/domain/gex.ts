import type { SessionDate } from './market-time.ts';

/** Dealer gamma exposure at one strike, summed over expiries when `expiry` is null (spec 2.10). */
export interface GexRow {
  /** Integer thousandths of a dollar. */
  strike: number;
  expiry: SessionDate | null;
  /** Dollars of dealer hedging per $1 move: calls positive, puts negative. */
  gex: number;
  /** Delta-adjusted dollars per $1 move. */
  deltaAdj: number | null;
  /** Contracts; null = that right is not listed at the strike. */
  callOi: number | null;
  putOi: number | null;
  /** The part of `gex` whose expiry is the capture's session; null when no listed expiry is. */
  gex0dte: number | null;
}

/** Per-expiry figures of a capture. */
export interface GexExpiry {
  expiry: SessionDate;
  /** Strike, thousandths, at which expiring holders would receive least. */
  maxPain: number | null;
  /** Price of the at-the-money straddle, dollars: the market's expected move. */
  expectedMoveStraddle: number | null;
  /** S·σ·√T, dollars: one standard deviation. */
  expectedMoveSigma: number | null;
  atmIv: number | null;
}

export const gammaSources = ['solve', 'vendor'] as const;
export type GammaSource = (typeof gammaSources)[number];

/** GEX of one chain capture (methodology 1). */
export interface GexCapture {
  underlying: string;
  capturedAt: number;
  sessionDate: SessionDate;
  spot: number | null;
  priorCloseSpot: number | null;
  /** Sum over the full curve. */
  netGex: number;
  /** Price at which the cumulative net curve crosses zero; null when it does not. */
  flipPoint: number | null;
  /** Price at which re-priced net gamma changes sign; not the flip point. */
  zeroGamma: number | null;
  /** Strikes, thousandths, of the largest call and put gex. */
  callWall: number | null;
  putWall: number | null;
  /** Dollars of delta per vol point, and per day. */
  netVanna: number | null;
  netCharm: number | null;
  gammaSource: GammaSource;
  /** Share of open interest whose gamma was known, 0…1. */
  oiCoverage: number;
  /** Contracts that entered the sums. */
  contractCount: number;
  /** Contracts with open interest that were skipped for want of a gamma. */
  gammaAbsent: number;
  methodologyVersion: string;
  /** Net rows, ascending by strike. */
  strikes: GexRow[];
  /** Unsummed rows, ascending by strike, then expiry. */
  byExpiry: GexRow[];
  expiries: GexExpiry[];
}
