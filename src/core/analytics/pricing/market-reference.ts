import type { Dividend } from '../../domain/market/dividends.ts';
import type { RateReference } from './group-rate.ts';

/** Pricing inputs of a chain besides its own quotes. */
export interface MarketReference extends RateReference {
  /** Dividends of the underlying, ascending by ex-date; absent or empty: none is known. */
  dividends?: readonly Dividend[] | undefined;
}
