// The price range around the spot, and the candles' relation to it.

import type { BarColumns, GexStrikeRow } from '../../../../../generated/pages/operation-types.ts';
import { priceRange } from '../market/candles.ts';
import type { Timeframe } from '../timeframes.ts';
import { typicalStep } from './levels.ts';

/** Dollars, low then high. */
export type PriceRange = readonly [number, number];

// Number of strikes on either side of the spot that stay readable, however little the price moves.
const strikesBeside = 8;

/** The price range of some strikes around a capture's spot; null without a spot, or without strikes near it. */
export function nearRange(rows: readonly Pick<GexStrikeRow, 'strike'>[], spot: number | null): PriceRange | null {
  const near = rows
    .map(({ strike }) => strike / 1000)
    .filter((strike) => spot !== null && Math.abs(strike - spot) <= spot / 10);
  const step = typicalStep(near);
  return step === null || spot === null ? null : [spot - strikesBeside * step, spot + strikesBeside * step];
}

/**
 * The price range of candles that is apart from the strikes around a capture's spot; null if they overlap, or if
 * candles are of an hour or a day, which go back too far to compare.
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
