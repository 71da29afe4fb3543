import type { SessionDate } from './market-time.ts';

/** Causes of a change of gex (methodology 10), in the order in which they are taken. */
export const gexCauses = ['spot', 'time', 'volatility', 'openInterest', 'listing', 'residual'] as const;
export type GexCause = (typeof gexCauses)[number];

/** A change of gex and its parts by cause, which add up to it; dollars per $1 move. */
export interface GexSplit extends Record<GexCause, number> {
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
