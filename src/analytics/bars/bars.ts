import {
  type Bar,
  type BarColumns,
  barAt,
  barColumnNames,
  barColumns,
  type Timeframe,
  timeframeMs,
} from '../../domain/bar.ts';

/**
 * Longer bars from shorter ones, ascending (methodology 5): first open, highest high, lowest low, last close, summed
 * volume and trade count, vwap weighted by volume. A bar's vwap or count is unknown (NaN) when that of any of its parts
 * is; a vwap without volume is the plain mean. Bars are cut at multiples of their length since the epoch, which in New
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
  longer.vwap[at] = meanVwap(bars.vwap.subarray(start, end), bars.volume.subarray(start, end), volume);
  longer.tradeCount[at] = tradeCount;
}

function meanVwap(vwaps: Float64Array, volumes: Float64Array, volume: number): number {
  let sum = 0;
  let low = Infinity;
  let high = -Infinity;
  for (let i = 0; i < vwaps.length; i++) {
    const vwap = vwaps[i]!;
    sum += volume > 0 ? vwap * volumes[i]! : vwap;
    low = Math.min(low, vwap);
    high = Math.max(high, vwap);
  }
  const weight = volume > 0 ? volume : vwaps.length;
  // A mean lies among what it is the mean of, which its last rounding may not know.
  return Math.min(high, Math.max(low, sum / weight));
}
