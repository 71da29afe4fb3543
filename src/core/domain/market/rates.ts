import type { SessionDate } from '../market-time.ts';

/** A point of the curve of a date. */
export interface Rate {
  date: SessionDate;
  /** Days to maturity. */
  days: number;
  /** Continuous, a fraction per year. */
  rate: number;
}

/**
 * The rate of a curve at a number of days: interpolated linearly between its points, and that of the nearest point
 * beyond them. Points of one date, ascending by days; null without any.
 */
export function rateAt(points: readonly Pick<Rate, 'days' | 'rate'>[], days: number): number | null {
  const after = points.findIndex((point) => point.days >= days);
  if (after === -1) return points.at(-1)?.rate ?? null;
  const [b, a] = [points[after]!, points[after - 1]];
  return a === undefined ? b.rate : a.rate + ((b.rate - a.rate) * (days - a.days)) / (b.days - a.days);
}
