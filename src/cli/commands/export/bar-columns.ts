import { type BarColumns, barAt } from '../../../domain/market/bar.ts';

/** Columns of a bar of a stock or an option contract. */
export const barColumns = {
  timeframe: 'text',
  ts_ms: 'int64',
  open: 'float64',
  high: 'float64',
  low: 'float64',
  close: 'float64',
  volume: 'int64',
  vwap: 'float64',
  trade_count: 'int64',
} as const;

/** The figures of a bar by their columns. */
export function barFigures(bars: BarColumns, index: number) {
  const { tsMs, open, high, low, close, volume, vwap, tradeCount } = barAt(bars, index);
  return { ts_ms: tsMs, open, high, low, close, volume, vwap, trade_count: tradeCount };
}
