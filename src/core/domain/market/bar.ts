import {
  emptyColumns,
  type GivenRow,
  type InColumns,
  type RowOf,
  rowReader,
  rowWriter,
  unknownColumns,
} from '../columns.ts';
import { roundHalfEven } from '../units.ts';
import { barColumnNames, barNumbers } from './bar-columns.ts';

/** Bar lengths of the contract (spec 2.6). */
export const timeframes = ['1s', '1m', '5m', '1h', '1d'] as const;
export type Timeframe = (typeof timeframes)[number];

/**
 * A stored series of bars. `unpriced` are the seconds without a bar, in which prints count in volume or set a high or
 * low, and the official closes. Their open is unknown; only sums of a day read them.
 */
export type StoredTimeframe = Timeframe | 'unpriced';
/** The series that a tape makes. */
export const tapeTimeframes: readonly StoredTimeframe[] = [...timeframes, 'unpriced'];

export const timeframeMs: Record<Timeframe, number> = {
  '1s': 1000,
  '1m': 60_000,
  '5m': 300_000,
  '1h': 3_600_000,
  '1d': 86_400_000,
};

/** Time after its end at which a bar is complete, ms: late prints may arrive before (methodology 5). */
export const latenessMs = 15_000;

/** One OHLCV bar of a stock or of an option contract. */
export type Bar = RowOf<typeof barNumbers>;

/** A bar as a source gives it. */
export type GivenBar = GivenRow<typeof barNumbers>;

/** A series of a stock's bars. */
export interface Series {
  symbol: string;
  timeframe: Timeframe;
}

/** One stock bar as it is served (spec 2.6). */
export type StockBar = Series & Bar;

/** A run of bars as columns, ascending by `tsMs`. */
export interface BarColumns extends InColumns<typeof barNumbers> {
  /** The part of the volume that `vwap` is the mean of. Absent where that is all of it, or not known. */
  pricedVolume?: Float64Array;
}

/** Columns for `length` bars, every number 0 until it is set. */
export const barColumns = (length: number): BarColumns => emptyColumns(barNumbers, length);

/** Columns for `length` bars, in which all that a bar may lack is unknown until it is set. */
export const unknownBars = (length: number): BarColumns => unknownColumns(barNumbers, length);

/** Writes the bar at `index` of columns. */
export const setBar: (columns: BarColumns, index: number, bar: GivenBar) => void = rowWriter(barNumbers);

/** The bar at `index` of columns. */
export const barAt: (columns: BarColumns, index: number) => Bar = rowReader(barNumbers);

/** The bar at `index` of columns of a stock. */
export const stockBarAt: (columns: BarColumns, index: number, series: Series) => StockBar = rowReader(barNumbers, {
  beside: ['symbol', 'timeframe'],
});

/** Bars as columns. */
export function toBarColumns(bars: readonly GivenBar[]): BarColumns {
  const columns = barColumns(bars.length);
  for (let i = 0; i < bars.length; i++) setBar(columns, i, bars[i]!);
  return columns;
}

/** True if a bar of one page has the columns of one of another; a priced volume is not compared. */
export function isSameBar(a: BarColumns, i: number, b: BarColumns, j: number): boolean {
  return barColumnNames.every((name) => Object.is(a[name][i], b[name][j]));
}

/** Bars in served form, with volumes in whole shares: prints, and stored volumes, have fractions of a share. */
export function inWholeShares(bars: BarColumns): BarColumns {
  return bars.volume.every(Number.isInteger) ? bars : { ...bars, volume: bars.volume.map(roundHalfEven) };
}
