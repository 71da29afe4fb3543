import { type Bar, type BarColumns, barAt, barColumnNames, barColumns, type Timeframe, timeframeMs } from './bar.ts';
import { priceUnits } from './print.ts';

/**
 * Longer bars from shorter ones, ascending (methodology 5): first open, highest high, lowest low, last close, summed
 * volume and trade count, vwap weighted by the volume it is the mean of. Where the vwaps are those of prints, this one
 * is to the last bit that of all their prints. A bar's vwap or count is unknown (NaN) when that of any of its parts is;
 * a vwap without volume is the plain mean. Bars are cut at multiples of their length since the epoch, which in New
 * York are the same minutes up to an hour; days are not made so.
 */
export function aggregateBars(bars: BarColumns, timeframe: Exclude<Timeframe, '1d'>): BarColumns {
  const lengthMs = timeframeMs[timeframe];
  const longer = barColumns(bars.tsMs.length);
  let count = 0;
  for (let start = 0; start < bars.tsMs.length; ) {
    const first = bars.tsMs[start]!;
    const tsMs = first - (first % lengthMs);
    let end = start + 1;
    while (end < bars.tsMs.length && bars.tsMs[end]! < tsMs + lengthMs) end++;
    longer.tsMs[count] = tsMs;
    aggregateInto(longer, count++, bars, start, end);
    start = end;
  }
  return Object.fromEntries(
    barColumnNames.map((name) => [name, longer[name].slice(0, count)]),
  ) as unknown as BarColumns;
}

/** All of `bars` as one that starts at `tsMs`, by the rules of `aggregateBars`; null when there are none. */
export function oneBar(bars: BarColumns, tsMs: number): Bar | null {
  if (bars.tsMs.length === 0) return null;
  const one = barColumns(1);
  one.tsMs[0] = tsMs;
  aggregateInto(one, 0, bars, 0, bars.tsMs.length);
  return barAt(one, 0);
}

function aggregateInto(longer: BarColumns, at: number, bars: BarColumns, start: number, end: number): void {
  let volume = 0;
  let tradeCount = 0;
  for (let i = start; i < end; i++) {
    volume += bars.volume[i]!;
    tradeCount += bars.tradeCount[i]!;
  }
  longer.open[at] = bars.open[start]!;
  longer.high[at] = bars.high.subarray(start, end).reduce((a, b) => Math.max(a, b));
  longer.low[at] = bars.low.subarray(start, end).reduce((a, b) => Math.min(a, b));
  longer.close[at] = bars.close[end - 1]!;
  longer.volume[at] = volume;
  longer.vwap[at] = meanVwap(bars, start, end);
  longer.tradeCount[at] = tradeCount;
}

/**
 * The mean of vwaps, weighted by volume. Bars with a priced volume are weighted by that, and those without any are
 * skipped.
 */
function meanVwap({ vwap: vwaps, volume, pricedVolume }: BarColumns, start: number, end: number): number {
  const weights = pricedVolume ?? volume;
  let sum = 0;
  // Money in the whole units in which prints are summed, as long as it is whole.
  let units = 0;
  let weight = 0;
  let low = Infinity;
  let high = -Infinity;
  for (let i = start; i < end; i++) {
    if (pricedVolume && pricedVolume[i] === 0) continue;
    const vwap = vwaps[i]!;
    weight += weights[i]!;
    sum += vwap * weights[i]!;
    units += wholeUnits(vwap * weights[i]! * priceUnits);
    low = Math.min(low, vwap);
    high = Math.max(high, vwap);
  }
  if (weight === 0 && pricedVolume) return Number.NaN;
  const weighted = Number.isNaN(units) ? sum / weight : units / weight / priceUnits;
  const mean = weight > 0 ? weighted : plainMean(vwaps, start, end);
  // A mean lies among what it is the mean of, which its last rounding may not know.
  return Math.min(high, Math.max(low, mean));
}

function plainMean(vwaps: Float64Array, start: number, end: number): number {
  return vwaps.subarray(start, end).reduce((a, b) => a + b) / (end - start);
}

// A print's money is a whole number of units, and a vwap was rounded twice since it was divided; so is this product.
const roundings = 1e-15;

/** The whole number that a sum of money is but for roundings; NaN where it is none. */
function wholeUnits(units: number): number {
  const whole = Math.round(units);
  return Math.abs(units - whole) <= roundings * whole ? whole : Number.NaN;
}
