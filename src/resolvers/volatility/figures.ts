import { volatilityAtDays } from '../../core/analytics/chain/volatility-surface.ts';
import { type VariancePremium, variancePremium } from '../../core/analytics/volatility.ts';
import { type VolatilityTerm, volatilityTerm } from '../chain/volatility.ts';
import type { RequestContext } from '../context.ts';
import { realizedOf } from './realized.ts';

export type { VariancePremium };

/** Days to maturity at which implied volatility is shown. */
const maturities = [7, 30, 60, 90] as const;

/** Volatility figures of a symbol: the term structure, and what is read off it. */
export interface VolatilityFigures extends VolatilityTerm {
  /** Implied volatility by days to maturity, annualized fractions; null beyond the expiries. */
  maturities: Record<(typeof maturities)[number], number | null>;
}

/** Volatility figures as of the last minute's solves or the latest chain, whichever is newer. */
export async function volatilityFigures(context: RequestContext, symbol: string): Promise<VolatilityFigures> {
  const term = await volatilityTerm(context, symbol);
  const known = maturities.map((days) => [days, volatilityAtDays(term.all, days)] as const);
  return { ...term, maturities: Object.fromEntries(known) as VolatilityFigures['maturities'] };
}

/** Variance risk premium: implied volatility at 30 days against the realized of 20 sessions; null without either. */
export async function premiumOf(context: RequestContext, figures: VolatilityFigures): Promise<VariancePremium | null> {
  const realized = await realizedOf(context, figures.symbol);
  return variancePremium(figures.maturities[30], realized?.closeToClose ?? null);
}
