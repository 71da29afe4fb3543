import { roundTo } from '../domain/units.ts';

/** 100·(spot/officialClose − 1) in percent, to 4 decimals; null when either price is unknown or the close is 0. Dollars. */
export function changePct(spot: number | null, officialClose: number | null): number | null {
  if (spot === null || officialClose === null || officialClose === 0) return null;
  return roundTo(100 * (spot / officialClose - 1), 4);
}

/** The unweighted mean of the known values in percent, to 4 decimals; null when none is known (methodology 7). */
export function meanPct(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return null;
  return roundTo(known.reduce((sum, value) => sum + value, 0) / known.length, 4);
}
