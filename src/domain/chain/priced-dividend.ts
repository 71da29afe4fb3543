import type { SessionDate } from '../market-time.ts';

/** The dividend that contracts of an expiry are priced with. */
export interface PricedDividend {
  /**
   * Dollars a share: the sum of those whose ex-date lies after the quotes and on or before the contracts' last session.
   */
  amount: number;
  /** The first ex-date. */
  exDate: SessionDate;
  /** `dataset`: loaded by the operator. `inferred`: read off the chain's own quotes on the eve of the ex-date. */
  source: 'dataset' | 'inferred';
}
