import type { SessionDate } from '../market-time.ts';

/** The dividend that contracts of an expiry are priced with. */
export interface PricedDividend {
  /** Dollars per share: the sum of those with an ex-date after the quotes and up to the contracts' last session. */
  amount: number;
  /** The first ex-date. */
  exDate: SessionDate;
  /** `dataset`: loaded by the operator. `inferred`: implied by the chain's own quotes on the eve of the ex-date. */
  source: 'dataset' | 'inferred';
}
