import type { BarColumns } from '../domain/market/bar.ts';

/** Realized volatility by four estimators, annualized fractions. */
export interface Realized {
  /** Standard deviation (n − 1) of the logarithms of closes over the closes before. */
  closeToClose: number;
  /** Parkinson (1980): from highs and lows. */
  parkinson: number;
  /** Garman and Klass (1980): from highs, lows, opens and closes. */
  garmanKlass: number;
  /** Yang and Zhang (2000): overnight, open to close, and Rogers–Satchell; has no bias by drift or gaps. */
  yangZhang: number;
}

/** Sessions of a year. */
const sessionsAYear = 252;

const annualized = (variance: number) => Math.sqrt(sessionsAYear * Math.max(0, variance));

const mean = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Variance around the mean of n values, divided by n − 1. */
function variance(values: Float64Array): number {
  const center = mean(values);
  return values.reduce((sum, value) => sum + (value - center) ** 2, 0) / (values.length - 1);
}

/** Logarithms of the ratio of two prices of each session. */
function logs(above: Float64Array, below: Float64Array): Float64Array {
  return above.map((price, i) => Math.log(price / below[i]!));
}

/**
 * Realized volatility of the n sessions after the first of `bars` (daily, consecutive, adjusted for splits), whose
 * close alone counts. n of 2 or more.
 */
export function realizedVolatility(bars: Pick<BarColumns, 'open' | 'high' | 'low' | 'close'>): Realized {
  const [open, high, low, close] = [bars.open, bars.high, bars.low, bars.close].map((column) => column.subarray(1));
  const before = bars.close.subarray(0, -1);
  const n = close!.length;
  const [up, down, body] = [logs(high!, open!), logs(low!, open!), logs(close!, open!)];
  const range = up.map((value, i) => (value - down[i]!) ** 2);
  const rogersSatchell = up.map((u, i) => u * (u - body[i]!) + down[i]! * (down[i]! - body[i]!));
  const garmanKlass = range.map((squared, i) => squared / 2 - (2 * Math.LN2 - 1) * body[i]! ** 2);
  const k = 0.34 / (1.34 + (n + 1) / (n - 1));
  return {
    closeToClose: annualized(variance(logs(close!, before))),
    parkinson: annualized(mean(range) / (4 * Math.LN2)),
    garmanKlass: annualized(mean(garmanKlass)),
    yangZhang: annualized(variance(logs(open!, before)) + k * variance(body) + (1 - k) * mean(rogersSatchell)),
  };
}

/** Rank of a symbol's volatility among its daily values of a year. */
export interface VolatilityRank {
  /** 100·(x − min)/(max − min), percent; null when all values are equal. */
  rank: number | null;
  /** 100·(days below x)/days, percent. */
  percentile: number;
  /** Number of daily values, today's included. */
  days: number;
}

/** Daily values that are ranked among, today's included: a year of sessions; and the fewest that give a rank. */
export const rankSessions = { most: 252, fewest: 60 };

/** The rank of the last of daily values among all of them, itself included; null with fewer than 60. */
export function volatilityRank(values: readonly number[]): VolatilityRank | null {
  const recent = values.slice(-rankSessions.most);
  if (recent.length < rankSessions.fewest) return null;
  const today = recent.at(-1)!;
  const [least, most] = [Math.min(...recent), Math.max(...recent)];
  return {
    rank: most === least ? null : (100 * (today - least)) / (most - least),
    percentile: (100 * recent.filter((value) => value < today).length) / recent.length,
    days: recent.length,
  };
}

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
