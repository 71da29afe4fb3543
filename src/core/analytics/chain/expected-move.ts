import { methodologySettings } from '../methodology.ts';

/**
 * The price of the at-the-money straddle, dollars per share: the market's price of the move to expiry. Null if a leg
 * has no price.
 */
export function straddleMove(callMid: number | null, putMid: number | null): number | null {
  return callMid === null || putMid === null ? null : callMid + putMid;
}

/**
 * One standard deviation of the price at expiry, dollars: S·σ·√T. Null without an implied volatility or time. `price`,
 * dollars, is that with which options are priced: of the underlying, or the forward that they follow.
 */
export function sigmaMove(price: number, volatility: number | null, years: number): number | null {
  return volatility === null || !(years > 0) ? null : price * volatility * Math.sqrt(years);
}

/** A straddle in the market and by the model, dollars per share; `halfSpread` of its two quotes together. */
export interface CheckedStraddle {
  market: number;
  halfSpread: number;
  model: number;
}

/**
 * The ratio of the straddle at the listed strike nearest the forward to its value in the model, which is 1 if they
 * agree; null without a check. `inconsistent` if they do not within 30 days, by more than the quotes explain: quotes
 * and the price of the underlying then have different times.
 */
export function selfCheck(
  straddle: CheckedStraddle | null,
  years: number,
): { moveRatio: number | null; inconsistent: boolean } {
  if (straddle === null || !(straddle.model > 0)) return { moveRatio: null, inconsistent: false };
  const { selfCheckYears, selfCheckTolerance } = methodologySettings;
  const { market, model, halfSpread } = straddle;
  const moveRatio = market / model;
  const isOff = Math.abs(moveRatio - 1) > selfCheckTolerance && Math.abs(market - model) > halfSpread;
  return { moveRatio, inconsistent: isOff && years < selfCheckYears };
}
