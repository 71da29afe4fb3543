// The prices around the spot, and whether the candles are among them.

import type { BarColumns, GexStrikeRow } from '../../../../../generated/pages/operation-types.ts';
import { priceRange } from '../market/candles.ts';
import type { Timeframe } from '../timeframes.ts';
import { typicalStep } from './levels.ts';

/** Dollars, low then high. */
export type PriceRange = readonly [number, number];

// So many strikes to either side of the spot are there to be read, however still the price.
const strikesBeside = 8;

/** The prices of some strikes around a capture's spot; null where there is no spot, or no strikes are near it. */
export function nearRange(rows: readonly Pick<GexStrikeRow, 'strike'>[], spot: number | null): PriceRange | null {
  const near = rows
    .map(({ strike }) => strike / 1000)
    .filter((strike) => spot !== null && Math.abs(strike - spot) <= spot / 10);
  const step = typicalStep(near);
  return step === null || spot === null ? null : [spot - strikesBeside * step, spot + strikesBeside * step];
}

/**
 * The prices of candles that lie apart from those around a capture's spot; null = they do not, or they are candles of
 * an hour or a day, which go back too far to be compared.
 */
export function candlesElsewhere(
  bars: BarColumns | null,
  timeframe: Timeframe,
  near: PriceRange | null,
): { low: number; high: number } | null {
  const candles = bars && (timeframe === '1m' || timeframe === '5m') ? priceRange(bars) : null;
  if (candles === null || near === null) return null;
  return candles.high < near[0] || candles.low > near[1] ? candles : null;
}
