import { methodologySettings } from '../methodology.ts';

/**
 * The at-the-money straddle's price, dollars a share: what the market pays for the move to expiry. Null when a leg has
 * no price.
 */
export function straddleMove(callMid: number | null, putMid: number | null): number | null {
  return callMid === null || putMid === null ? null : callMid + putMid;
}

/** One standard deviation of the price at expiry, dollars: S·σ·√T. Null without an implied volatility or time. */
export function sigmaMove(spot: number, volatility: number | null, years: number): number | null {
  return volatility === null || !(years > 0) ? null : spot * volatility * Math.sqrt(years);
}

/** A straddle at the forward is worth S·σ·√T·√(2/π), so that one standard deviation is this many straddles. */
const straddlesPerSigma = 1.2533;

/**
 * Whether an expiry's two expected moves agree: their ratio is 1 at the forward. `inconsistent` where they do not
 * within 30 days, where quotes and the price of the underlying are then not of one instant. Moves in dollars.
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
