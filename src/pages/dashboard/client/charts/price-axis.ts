// The axis of prices that the candles and the gamma of the strikes have in common.

import type { BarColumns, GexStrikeRow } from '../data/operation-types.ts';
import { priceRange } from '../market/candles.ts';
import type { Timeframe } from '../timeframes.ts';
import { typicalStep } from './levels.ts';

/** Dollars, low then high. */
export type PriceRange = readonly [number, number];

// So many strikes to either side of the spot are there to be read, however still the price.
const strikesBeside = 8;

/**
 * The prices that both charts show: those of the candles, and some strikes around the spot. Null where candles of an hour or a day go
 * back too far, or there is nothing to share.
 */
export function sharedRange(
  bars: BarColumns | null,
  timeframe: Timeframe,
  rows: readonly Pick<GexStrikeRow, 'strike'>[],
  spot: number | null,
): PriceRange | null {
  const range = bars && (timeframe === '1m' || timeframe === '5m') ? priceRange(bars) : null;
  const near = rows
    .map(({ strike }) => strike / 1000)
    .filter((strike) => spot !== null && Math.abs(strike - spot) <= spot / 10);
  const step = typicalStep(near);
  if (range === null || step === null || spot === null) return null;
  const room = strikesBeside * step;
  return [Math.min(range.low, spot - room), Math.max(range.high, spot + room)];
}
