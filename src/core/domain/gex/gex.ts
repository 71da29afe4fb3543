import type { CaptureInputs } from '../chain/capture-inputs.ts';
import { type Columns, type InColumns, inColumns, type RowOf, rowBy, rowReader } from '../columns.ts';
import { dateOfEpochDay, epochDay, type SessionDate } from '../market-time.ts';
import {
  type captureColumns,
  type expiryColumns,
  exposureColumns,
  partColumns,
  type profileColumns,
  strikeColumns,
} from './gex-columns.ts';

/** Dealer gamma exposure at one strike, summed over expiries when `expiry` is null (spec 2.10). */
export interface GexRow extends RowOf<typeof strikeColumns> {
  /** Integer thousandths of a dollar. */
  strike: number;
  expiry: SessionDate | null;
}

/** The numbers of a row without contracts. */
export const noContracts: RowOf<typeof strikeColumns> = {
  ...rowBy(exposureColumns, () => 0),
  ...rowBy(partColumns, () => null),
};

/** Per-expiry figures of a capture. */
export interface GexExpiry extends RowOf<typeof expiryColumns> {
  expiry: SessionDate;
  /**
   * True when the self-check of an expiry within 30 days fails: its quotes contradict each other or the price of the
   * underlying.
   */
  inconsistent: boolean;
}

/** Net gamma exposure were the underlying at a price. */
export type GexProfilePoint = RowOf<typeof profileColumns>;

export const gammaSources = ['solve', 'vendor'] as const;
export type GammaSource = (typeof gammaSources)[number];

/** GEX of one chain capture (methodology 1). */
export interface GexCapture extends RowOf<typeof captureColumns> {
  underlying: string;
  capturedAt: number;
  /** As of its chain; null when unknown. */
  delayMs: number | null;
  /** As of its chain. */
  subset?: boolean | null;
  alone?: boolean | null;
  sessionDate: SessionDate;
  /**
   * True when spot and quotes are not of one instant: options were priced with `impliedSpot`. Null when the quotes
   * imply no spot to compare with, or it was not checked.
   */
  spotStale: boolean | null;
  /** Status of the flip point; null for captures stored before it was computed. */
  flipStatus: FlipStatus | null;
  gammaSource: GammaSource;
  methodologyVersion: string;
  /** Inputs it was computed from; null when unknown. */
  inputs: CaptureInputs | null;
  /** Net rows, ascending by strike. */
  strikes: GexRow[];
  /** Unsummed rows, ascending by strike, then expiry. */
  byExpiry: GexRow[];
  expiries: GexExpiry[];
  /** Re-priced net gamma by price, ascending; null when not computed. */
  profile: GexProfilePoint[] | null;
}

/**
 * Strike rows as columns of one length; NaN = unknown. Captures are stored and trimmed in this form; rows are made only
 * for what is served.
 */
export interface GexColumns extends InColumns<typeof strikeColumns> {
  strike: Float64Array;
  /** Epoch days; NaN on net rows. */
  expiry: Float64Array;
}

/** Strike rows as columns. */
export function gexColumns(rows: readonly GexRow[]): GexColumns {
  return {
    strike: Float64Array.from(rows, (row) => row.strike),
    expiry: Float64Array.from(rows, ({ expiry }) => (expiry === null ? Number.NaN : epochDay(expiry))),
    ...inColumns(strikeColumns, rows),
  };
}

/** The expiry of the row at `index`; null on net rows. */
export function gexExpiryAt({ expiry }: Pick<GexColumns, 'expiry'>, index: number): SessionDate | null {
  const day = expiry[index]!;
  return Number.isNaN(day) ? null : dateOfEpochDay(day);
}

const strikeAndNumbers: Columns = { strike: { type: 'int32', nullable: false, description: '' }, ...strikeColumns };
const rowAt = rowReader<GexColumns, GexRow, [Pick<GexRow, 'expiry'>]>(strikeAndNumbers, { beside: ['expiry'] });

/** The strike row at `index`. */
export function gexRowAt(columns: GexColumns, index: number): GexRow {
  return rowAt(columns, index, { expiry: gexExpiryAt(columns, index) });
}

/** Statuses of a flip point, in order of precedence. */
const flipStatuses = ['no_strikes', 'no_crossing', 'partial', 'remote', 'fragile', 'crosses'] as const;
export type FlipStatus = (typeof flipStatuses)[number];

/** Exposures of open contracts, each a sum of figures rounded to a cent. */
export interface Exposures {
  /** Dollars of the underlying that holders are long: calls positive, puts negative. */
  delta: number;
  /** Dollars of dealer delta gained per vol point. */
  vanna: number;
  /** Dollars of dealer delta gained per day. */
  charm: number;
  /** Dollars per vol point: calls positive, puts negative. */
  vega: number;
}

/** Exposures at one strike, over all expiries. */
export interface StrikeExposures extends Exposures {
  /** Integer thousandths of a dollar. */
  strike: number;
}

/** Exposures of one expiry, over all strikes. */
export interface ExpiryExposures extends Exposures {
  expiry: SessionDate;
}

/** Causes of a change of gex (methodology 10), in the order in which they are taken. */
export const gexCauses = ['spot', 'time', 'volatility', 'openInterest', 'listing', 'residual'] as const;
export type GexCause = (typeof gexCauses)[number];

/** A change of gex and its parts by cause, which add up to it; dollars per $1 move. */
interface GexSplit extends Record<GexCause, number> {
  gex: number;
}

/** Changes between two captures. */
export interface GexMoves extends GexSplit {
  /** Contracts; null if that right has no known open interest in either capture. */
  callOi: number | null;
  putOi: number | null;
  /** Contracts traded: the session's so far of the later capture less that of the earlier; null when unknown. */
  volume: number | null;
}

/** Changes at a strike, over all expiries. */
export interface GexStrikeMoves extends GexMoves {
  /** Integer thousandths of a dollar. */
  strike: number;
}

/** Changes of an expiry, over all strikes. */
export interface GexExpiryMoves extends GexMoves {
  expiry: SessionDate;
}

/** Changes between two captures of an underlying: in all, by strike and by expiry. */
export interface GexDifference extends GexMoves {
  /** Ascending; every strike that either capture lists. */
  strikes: GexStrikeMoves[];
  /** Ascending; every expiry that either capture lists. */
  expiries: GexExpiryMoves[];
  /** Number of contracts that the later capture alone has, and the earlier alone: listed, expired or delisted. */
  contractsAdded: number;
  contractsRemoved: number;
}
