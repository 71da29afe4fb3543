/** Implied volatility of the next 30 days against realized volatility of the last 20 sessions. */
export interface VariancePremium {
  /** IV30² − RV20², in annualized variance. */
  variance: number;
  /** IV30 − RV20, an annualized fraction. */
  volatility: number;
}

/** Variance risk premium of two annualized fractions; null without either. */
export function variancePremium(iv30: number | null, realized: number | null): VariancePremium | null {
  if (iv30 === null || realized === null) return null;
  return { variance: iv30 ** 2 - realized ** 2, volatility: iv30 - realized };
}
