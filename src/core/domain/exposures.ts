import type { SessionDate } from './market-time.ts';

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
