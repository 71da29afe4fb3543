/** Volatility at the money of an expiry. */
export interface DatedVolatility {
  /** From the time of the quotes to the contracts' last instant, years of 365 days. */
  years: number;
  /** Annualized fraction; null when unknown. */
  atmIv: number | null;
}

/**
 * Implied volatility at a number of days, an annualized fraction: total variance σ²T at the money, linear in T between
 * the expiries on both sides. Null beyond them. `expiries` ascending.
 */
export function volatilityAtDays(expiries: readonly DatedVolatility[], days: number): number | null {
  const years = days / 365;
  let before: { years: number; variance: number } | null = null;
  for (const expiry of expiries) {
    if (expiry.atmIv === null) continue;
    const next = { years: expiry.years, variance: expiry.atmIv ** 2 * expiry.years };
    if (next.years === years) return expiry.atmIv;
    if (next.years > years) {
      if (before === null) return null;
      const share = (years - before.years) / (next.years - before.years);
      return Math.sqrt((before.variance + share * (next.variance - before.variance)) / years);
    }
    before = next;
  }
  return null;
}
