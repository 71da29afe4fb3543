/** The at-the-money straddle's price, dollars a share: what the market pays for the move to expiry. Null when a leg has no price. */
export function straddleMove(callMid: number | null, putMid: number | null): number | null {
  return callMid === null || putMid === null ? null : callMid + putMid;
}

/** One standard deviation of the price at expiry, dollars: S·σ·√T. Null without an implied volatility or time. */
export function sigmaMove(spot: number, volatility: number | null, years: number): number | null {
  return volatility === null || !(years > 0) ? null : spot * volatility * Math.sqrt(years);
}
