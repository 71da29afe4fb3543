import { roundHalfEven } from '../units.ts';

/** Bar lengths of the contract (spec 2.6). */
export const timeframes = ['1s', '1m', '5m', '1h', '1d'] as const;
export type Timeframe = (typeof timeframes)[number];

export const timeframeMs: Record<Timeframe, number> = {
  '1s': 1000,
  '1m': 60_000,
  '5m': 300_000,
  '1h': 3_600_000,
  '1d': 86_400_000,
};

/** A bar is complete once its end is this long past: late prints may still arrive before (methodology 5). */
export const latenessMs = 15_000;

/**
 * One OHLCV bar of a stock (prices dollars a share, volume shares) or of an option contract (dollars a share, volume
 * contracts).
 */
export interface Bar {
  /** Start of the bar, epoch ms; a 1d bar starts 00:00 New York of its session. */
  tsMs: number;
  open: number;
  high: number;
  low: number;
  close: number;
  volume: number;
  /** Null when the source gives none. */
  vwap: number | null;
  tradeCount: number | null;
}

/** One stock bar as it is served (spec 2.6). */
export interface StockBar extends Bar {
  symbol: string;
  timeframe: Timeframe;
}

/**
 * A run of bars as columns, ascending by `tsMs`; NaN stands for an unknown vwap or count. All arrays have one length.
 */
export interface BarColumns {
  tsMs: Float64Array;
  open: Float64Array;
  high: Float64Array;
  low: Float64Array;
  close: Float64Array;
  volume: Float64Array;
  vwap: Float64Array;
  tradeCount: Float64Array;
  /** The part of the volume that `vwap` is the mean of. Absent where that is all of it, or not known. */
  pricedVolume?: Float64Array;
}

export const barColumnNames = ['tsMs', 'open', 'high', 'low', 'close', 'volume', 'vwap', 'tradeCount'] as const;

/** Empty columns for `length` bars, in one piece of memory: small pieces cost more than what they hold. */
export function barColumns(length: number): BarColumns {
  const memory = new ArrayBuffer(8 * barColumnNames.length * length);
  const column = (index: number) => new Float64Array(memory, 8 * length * index, length);
  return {
    tsMs: column(0),
    open: column(1),
    high: column(2),
    low: column(3),
    close: column(4),
    volume: column(5),
    vwap: column(6),
    tradeCount: column(7),
  };
}

/** Bars as columns. */
export function toBarColumns(bars: readonly Bar[]): BarColumns {
  const columns = barColumns(bars.length);
  for (let i = 0; i < bars.length; i++) {
    const bar = bars[i]!;
    columns.tsMs[i] = bar.tsMs;
    columns.open[i] = bar.open;
    columns.high[i] = bar.high;
    columns.low[i] = bar.low;
    columns.close[i] = bar.close;
    columns.volume[i] = bar.volume;
    columns.vwap[i] = bar.vwap ?? Number.NaN;
    columns.tradeCount[i] = bar.tradeCount ?? Number.NaN;
  }
  return columns;
}

/** The bar at `index` of `columns`. */
export function barAt(columns: BarColumns, index: number): Bar {
  const vwap = columns.vwap[index]!;
  const tradeCount = columns.tradeCount[index]!;
  return {
    tsMs: columns.tsMs[index]!,
    open: columns.open[index]!,
    high: columns.high[index]!,
    low: columns.low[index]!,
    close: columns.close[index]!,
    volume: columns.volume[index]!,
    vwap: Number.isNaN(vwap) ? null : vwap,
    tradeCount: Number.isNaN(tradeCount) ? null : tradeCount,
  };
}

/** True if a bar of one page has the columns of one of another; a priced volume is not compared. */
export function isSameBar(a: BarColumns, i: number, b: BarColumns, j: number): boolean {
  return barColumnNames.every((name) => Object.is(a[name][i], b[name][j]));
}

/** Bars as they are served, with volumes in whole shares: prints, and stored volumes, have fractions of a share. */
export function inWholeShares(bars: BarColumns): BarColumns {
  return bars.volume.every(Number.isInteger) ? bars : { ...bars, volume: bars.volume.map(roundHalfEven) };
}
