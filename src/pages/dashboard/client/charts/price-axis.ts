// The axis of prices that the candles and the gamma of the strikes have in common.

import type { BarColumns, GexStrikeRow } from '../../../../../generated/pages/operation-types.ts';
import { priceRange } from '../market/candles.ts';
import type { Timeframe } from '../timeframes.ts';
import { typicalStep } from './levels.ts';

/** Dollars, low then high. */
export type PriceRange = readonly [number, number];

// So many strikes to either side of the spot are there to be read, however still the price.
const strikesBeside = 8;

interface Prices {
  low: number;
  high: number;
}

/** The prices of the candles, and those of some strikes around the spot; null where they are not to be compared. */
function bothRanges(
  bars: BarColumns | null,
  timeframe: Timeframe,
  rows: readonly Pick<GexStrikeRow, 'strike'>[],
  spot: number | null,
): { candles: Prices; strikes: Prices } | null {
  const candles = bars && (timeframe === '1m' || timeframe === '5m') ? priceRange(bars) : null;
  const near = rows
    .map(({ strike }) => strike / 1000)
    .filter((strike) => spot !== null && Math.abs(strike - spot) <= spot / 10);
  const step = typicalStep(near);
  if (candles === null || step === null || spot === null) return null;
  const room = strikesBeside * step;
  return { candles, strikes: { low: spot - room, high: spot + room } };
}

const isApart = (one: Prices, other: Prices) => one.high < other.low || one.low > other.high;

/**
 * The prices that both charts show: those of the candles, and some strikes around the spot. Null where candles of an
 * hour or a day go back too far, or there is nothing to share: neither are prices that lie apart.
 */
export function sharedRange(...parts: Parameters<typeof bothRanges>): PriceRange | null {
  const both = bothRanges(...parts);
  if (both === null || isApart(both.candles, both.strikes)) return null;
  const { candles, strikes } = both;
  return [Math.min(candles.low, strikes.low), Math.max(candles.high, strikes.high)];
}

/** The prices of candles that lie apart from the strikes around a capture's spot; null = they do not. */
export function candlesElsewhere(...parts: Parameters<typeof bothRanges>): Prices | null {
  const both = bothRanges(...parts);
  return both !== null && isApart(both.candles, both.strikes) ? both.candles : null;
}
