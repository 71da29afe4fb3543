import type { CaptureInputs } from './chain/capture-inputs.ts';
import type { FlipStatus } from './flip-status.ts';
import { dateOfEpochDay, epochDay, type SessionDate } from './market-time.ts';

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
  /** The part of `gex` whose last session is the capture's; null if no live expiry has it. */
  gex0dte: number | null;
}

/** Per-expiry figures of a capture. */
export interface GexExpiry {
  expiry: SessionDate;
  /** Strike, thousandths, with the smallest payout to expiring holders. */
  maxPain: number | null;
  /** Price of the at-the-money straddle, dollars: the market's expected move. */
  expectedMoveStraddle: number | null;
  /** S·σ·√T, dollars: one standard deviation of the price with which options are priced, or the forward they follow. */
  expectedMoveSigma: number | null;
  atmIv: number | null;
  /**
   * Self-check: expectedMoveSigma ÷ (1.2533 · expectedMoveStraddle), 1 if they agree; null without either, or if not
   * checked.
   */
  moveRatio: number | null;
  /**
   * True if the self-check of an expiry within 30 days fails: its quotes contradict each other or the price of the
   * underlying.
   */
  inconsistent: boolean;
}

/** Net gamma exposure at a hypothetical price of the underlying. */
export interface GexProfilePoint {
  /** Dollars. */
  price: number;
  /** Dollars of dealer hedging per $1 move at that price. */
  gex: number;
}

export const gammaSources = ['solve', 'vendor'] as const;
export type GammaSource = (typeof gammaSources)[number];

/** GEX of one chain capture (methodology 1). */
export interface GexCapture {
  underlying: string;
  capturedAt: number;
  /** As of its chain; null if unknown. */
  delayMs: number | null;
  /** As of its chain. */
  subset?: boolean | null;
  sessionDate: SessionDate;
  spot: number | null;
  priorCloseSpot: number | null;
  /**
   * The price of the underlying implied by the option quotes, dollars; null if there is none, or it was not computed.
   */
  impliedSpot: number | null;
  /**
   * True if spot and quotes have different times: options were priced with `impliedSpot`. Null without an implied spot
   * to compare with, or if it was not checked.
   */
  spotStale: boolean | null;
  /** Number of expiries whose self-check fails; null if not checked. */
  inconsistentExpiries: number | null;
  /** Sum over the full curve. */
  netGex: number;
  /** Price at which the cumulative net curve crosses zero; null if it does not. */
  flipPoint: number | null;
  /** Status of the flip point; null for captures stored before it was computed. */
  flipStatus: FlipStatus | null;
  /** Price at which re-priced net gamma changes sign; not the flip point. */
  zeroGamma: number | null;
  /**
   * Strikes, thousandths, of the largest positive and the most negative net gex; null if no strike has that sign, or
   * for captures stored before they were computed.
   */
  callWall: number | null;
  putWall: number | null;
  /** Strikes, thousandths, of the largest call gex and the largest |put gex|; null if that side has none. */
  callGexPeak: number | null;
  putGexPeak: number | null;
  /** Dollars of delta per vol point, and per day. */
  netVanna: number | null;
  netCharm: number | null;
  gammaSource: GammaSource;
  /** Number of decimals of the source's gammas; null if it has none, or it was not counted. */
  gammaDecimals: number | null;
  /** Share of open interest with known gamma, 0…1. */
  oiCoverage: number;
  /** Number of contracts in the sums. */
  contractCount: number;
  /** Contracts with open interest that were skipped because their gamma is unknown. */
  gammaAbsent: number;
  methodologyVersion: string;
  /** Inputs of its computation; null if unknown. */
  inputs: CaptureInputs | null;
  /** Net rows, ascending by strike. */
  strikes: GexRow[];
  /** Unsummed rows, ascending by strike, then expiry. */
  byExpiry: GexRow[];
  expiries: GexExpiry[];
  /** Re-priced net gamma by price, ascending; null if not computed. */
  profile: GexProfilePoint[] | null;
}

/**
 * Strike rows as columns of equal length; NaN = unknown. Captures are stored and trimmed in this form; rows are built
 * only for serving.
 */
export interface GexColumns {
  strike: Float64Array;
  /** Epoch days; NaN on net rows. */
  expiry: Float64Array;
  gex: Float64Array;
  deltaAdj: Float64Array;
  callOi: Float64Array;
  putOi: Float64Array;
  gex0dte: Float64Array;
}

export const gexColumnNames = ['strike', 'expiry', 'gex', 'deltaAdj', 'callOi', 'putOi', 'gex0dte'] as const;

/** Strike rows as columns. */
export function gexColumns(rows: readonly GexRow[]): GexColumns {
  const number = (read: (row: GexRow) => number | null) => Float64Array.from(rows, (row) => read(row) ?? Number.NaN);
  return {
    strike: number((row) => row.strike),
    expiry: number((row) => (row.expiry === null ? null : epochDay(row.expiry))),
    gex: number((row) => row.gex),
    deltaAdj: number((row) => row.deltaAdj),
    callOi: number((row) => row.callOi),
    putOi: number((row) => row.putOi),
    gex0dte: number((row) => row.gex0dte),
  };
}

/** The expiry of the row at `index`; null on net rows. */
export function gexExpiryAt({ expiry }: Pick<GexColumns, 'expiry'>, index: number): SessionDate | null {
  const day = expiry[index]!;
  return Number.isNaN(day) ? null : dateOfEpochDay(day);
}

/** The columns of the rows at `indexes`. */
export function gexColumnsAt(columns: GexColumns, indexes: Uint32Array): GexColumns {
  const at = (column: Float64Array) => Float64Array.from(indexes, (index) => column[index]!);
  return Object.fromEntries(gexColumnNames.map((name) => [name, at(columns[name])])) as unknown as GexColumns;
}

const known = (value: number) => (Number.isNaN(value) ? null : value);

/** The strike row at `index`. */
export function gexRowAt(columns: GexColumns, index: number): GexRow {
  return {
    strike: columns.strike[index]!,
    expiry: gexExpiryAt(columns, index),
    gex: columns.gex[index]!,
    deltaAdj: known(columns.deltaAdj[index]!),
    callOi: known(columns.callOi[index]!),
    putOi: known(columns.putOi[index]!),
    gex0dte: known(columns.gex0dte[index]!),
  };
}
