import { methodologySettings } from '../methodology.ts';
import { straddlesPerSigma } from '../pricing/near-money.ts';

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

/**
 * The straddle at a strike without the value of exercising its call before an ex-date, dollars: the call is valued by
 * parity from the put. Null without a put.
 */
export function unexercisedStraddle(
  putMid: number | null,
  strike: number,
  { forward, rate, years }: { forward: number; rate: number; years: number },
): number | null {
  return putMid === null ? null : 2 * putMid + Math.exp(-rate * years) * (forward - strike);
}

/**
 * The ratio of an expiry's two expected moves, which is 1 at the forward if they agree. `inconsistent` if they do not
 * within 30 days: quotes and the price of the underlying then have different times. Moves in dollars.
 */
export function selfCheck(
  sigma: number | null,
  straddle: number | null,
  years: number,
): { moveRatio: number | null; inconsistent: boolean } {
  if (sigma === null || straddle === null || !(straddle > 0)) return { moveRatio: null, inconsistent: false };
  const { selfCheckYears, selfCheckTolerance } = methodologySettings;
  const moveRatio = sigma / (straddlesPerSigma * straddle);
  return { moveRatio, inconsistent: years < selfCheckYears && Math.abs(moveRatio - 1) > selfCheckTolerance };
}
