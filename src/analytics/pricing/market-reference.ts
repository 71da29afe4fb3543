import type { Dividend } from '../../domain/market/dividends.ts';
import { type CurvePoint, chainRates, type RateSource } from './group-rate.ts';

/** Pricing inputs of a chain besides its own quotes. */
export interface MarketReference {
  /** Risk-free rate if neither the chain nor a curve gives one, continuous, a fraction per year. */
  rate: number;
  /** The interest rate curve of the session, ascending by days; absent or empty: there is none. */
  curve?: readonly CurvePoint[] | undefined;
  /** Dividends of the underlying, ascending by ex-date; absent or empty: none is known. */
  dividends?: readonly Dividend[] | undefined;
  /** Determines every group's rate; absent: the chain itself, else the curve, else `rate`. */
  rates?: RateSource | undefined;
}

/** The source of a chain's rates. */
export function ratesOf({ rate, curve, rates }: MarketReference): RateSource {
  return rates ?? chainRates(rate, curve);
}
