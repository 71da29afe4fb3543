import { type Bar, type BarColumns, barAt, barColumns, type Timeframe, timeframeMs } from './bar.ts';
import { barColumnNames, barNumbers, type Joining } from './bar-columns.ts';
import { priceUnits } from './print.ts';

/**
 * Folds bars into longer ones, ascending (methodology 5): first open, highest high, lowest low, last close, summed
 * volume and trade count, vwap weighted by its volume. If the vwaps are those of prints, the result equals that of all
 * their prints to the last bit. A bar's vwap or count is unknown (NaN) if that of any of its parts is; a vwap without
 * volume is the plain mean. Bars are cut at multiples of their length since the epoch, which in New York are the same
 * minutes up to an hour; days are not built this way.
 */
export function aggregateBars(bars: BarColumns, timeframe: Exclude<Timeframe, '1d'>): BarColumns {
  const lengthMs = timeframeMs[timeframe];
  const { tsMs } = bars;
  const starts: number[] = [];
  let endMs = -Infinity;
  for (let i = 0; i < tsMs.length; i++) {
    if (tsMs[i]! < endMs) continue;
    endMs = tsMs[i]! - (tsMs[i]! % lengthMs) + lengthMs;
    starts.push(i);
  }
  const longer = joinedBars(bars, starts);
  for (let i = 0; i < starts.length; i++) longer.tsMs[i]! -= longer.tsMs[i]! % lengthMs;
  return longer;
}

/**
 * All of `bars` as one that starts at `tsMs`, by the rules of `aggregateBars`; null without a price. Some may be
 * `unpriced`: their volume counts, and their highs and lows if known.
 */
export function oneBar(bars: BarColumns, tsMs: number): Bar | null {
  if (bars.open.every(Number.isNaN)) return null;
  return { ...barAt(joinedBars(bars, [0]), 0), tsMs };
}

type Join = (values: Float64Array, start: number, end: number, bars: BarColumns) => number;
const joins: Record<Joining, Join> = {
  first(values, start, end) {
    while (start < end && Number.isNaN(values[start])) start++;
    return values[start]!;
  },
  highest(values, start, end) {
    let highest = -Infinity;
    for (let i = start; i < end; i++) if (values[i]! > highest) highest = values[i]!;
    return highest;
  },
  lowest(values, start, end) {
    let lowest = Infinity;
    for (let i = start; i < end; i++) if (values[i]! < lowest) lowest = values[i]!;
    return lowest;
  },
  last(values, start, end) {
    while (end > start && Number.isNaN(values[end - 1])) end--;
    return values[end - 1]!;
  },
  sum(values, start, end) {
    let sum = 0;
    for (let i = start; i < end; i++) sum += values[i]!;
    return sum;
  },
  mean: (_, start, end, bars) => meanVwap(bars, start, end),
};

/** Longer bars, each of those from one of `starts` up to the next; they start as the first that they are made of. */
function joinedBars(bars: BarColumns, starts: readonly number[]): BarColumns {
  const longer = barColumns(starts.length);
  for (const name of barColumnNames) {
    const [join, values, to] = [joins[barNumbers[name].joined], bars[name], longer[name]];
    for (let n = 0; n < starts.length; n++) to[n] = join(values, starts[n]!, starts[n + 1] ?? values.length, bars);
  }
  return longer;
}

/** The mean of vwaps, weighted by volume. Bars with a priced volume are weighted by that, and skipped if it is zero. */
function meanVwap({ vwap: vwaps, volume, pricedVolume }: BarColumns, start: number, end: number): number {
  const weights = pricedVolume ?? volume;
  let sum = 0;
  // Money in the whole units in which prints are summed, if it is whole.
  let units = 0;
  let weight = 0;
  let low = Infinity;
  let high = -Infinity;
  for (let i = start; i < end; i++) {
    const vwap = vwaps[i]!;
    // A bar without volume has none, whatever else is in the block.
    if (weights[i] === 0 && (pricedVolume || Number.isNaN(vwap))) continue;
    weight += weights[i]!;
    sum += vwap * weights[i]!;
    units += wholeUnits(vwap * weights[i]! * priceUnits);
    low = Math.min(low, vwap);
    high = Math.max(high, vwap);
  }
  if (weight === 0 && pricedVolume) return Number.NaN;
  const weighted = Number.isNaN(units) ? sum / weight : units / weight / priceUnits;
  const mean = weight > 0 ? weighted : plainMean(vwaps, start, end);
  // Clamped, because rounding may put a mean outside of its values.
  return Math.min(high, Math.max(low, mean));
}

function plainMean(vwaps: Float64Array, start: number, end: number): number {
  return vwaps.subarray(start, end).reduce((a, b) => a + b) / (end - start);
}

// A print's money is a whole number of units, and a vwap was rounded twice since its division, like this product.
const roundings = 1e-15;

/** The whole number nearest to a sum of money, within rounding errors; NaN if there is none. */
function wholeUnits(units: number): number {
  const whole = Math.round(units);
  return Math.abs(units - whole) <= roundings * whole ? whole : Number.NaN;
}
