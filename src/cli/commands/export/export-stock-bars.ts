import { inWholeShares } from '../../../core/domain/market/bar.ts';
import { barColumns, exportedBar } from './bar-columns.ts';
import type { Exporter } from './exporter.ts';

const barsAtOnce = 20_000;

export const stockBars: Exporter = {
  describes: 'bars of a stock; --timeframe sets their length',
  whole: false,
  columns: {
    symbol: 'text',
    ...barColumns,
  },
  async *rows(store, { symbol, timeframe, fromMs, toMs }) {
    if (symbol === null) return;
    const { readBars } = await import('../../../store/market/bar-blocks.ts');
    for (let start = fromMs; ; ) {
      const range = { fromMs: start, toMs, limit: barsAtOnce };
      const { bars: stored, more } = (await readBars(store, [symbol], timeframe, range)).get(symbol)!;
      const bars = inWholeShares(stored);
      for (let i = 0; i < bars.tsMs.length; i++) {
        yield { symbol, timeframe, ...exportedBar(bars, i) };
      }
      if (!more) return;
      start = bars.tsMs.at(-1)! + 1;
    }
  },
};
