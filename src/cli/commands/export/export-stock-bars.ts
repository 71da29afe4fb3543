import { barAt, inWholeShares } from '../../../domain/market/bar.ts';
import type { Exporter } from './exporter.ts';

const barsAtOnce = 20_000;

/** Bars of a stock. */
export const stockBars: Exporter = {
  describes: 'bars of a stock; --timeframe sets their length',
  whole: false,
  columns: {
    symbol: 'text',
    timeframe: 'text',
    ts_ms: 'int64',
    open: 'float64',
    high: 'float64',
    low: 'float64',
    close: 'float64',
    volume: 'int64',
    vwap: 'float64',
    trade_count: 'int64',
  },
  async *rows(store, { symbol, timeframe, fromMs, toMs }) {
    if (symbol === null) return;
    const { readBars } = await import('../../../store/market/bar-blocks.ts');
    for (let start = fromMs; ; ) {
      const range = { fromMs: start, toMs, limit: barsAtOnce };
      const { bars: stored, more } = (await readBars(store, [symbol], timeframe, range)).get(symbol)!;
      const bars = inWholeShares(stored);
      for (let i = 0; i < bars.tsMs.length; i++) {
        const { tsMs, open, high, low, close, volume, vwap, tradeCount } = barAt(bars, i);
        yield { symbol, timeframe, ts_ms: tsMs, open, high, low, close, volume, vwap, trade_count: tradeCount };
      }
      if (!more) return;
      start = bars.tsMs.at(-1)! + 1;
    }
  },
};
