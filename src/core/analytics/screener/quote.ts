import { roundTo } from '../../domain/units.ts';

/**
 * 100·(spot/officialClose − 1) in percent, to 4 decimals; null if either price is unknown or the close is 0. Dollars.
 */
export function changePct(spot: number | null, officialClose: number | null): number | null {
  if (spot === null || officialClose === null || officialClose === 0) return null;
  return roundTo(100 * (spot / officialClose - 1), 4);
}
