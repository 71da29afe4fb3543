import { barAt, type Timeframe } from '../domain/bar.ts';
import type { Store } from '../store/connection.ts';

/** One exported row by wire name. Null = unknown. */
export type ExportRow = Record<string, string | number | boolean | null>;

/** What to export: instants are half-open [fromMs, toMs), epoch ms. */
export interface ExportRange {
  symbol: string;
  fromMs: number;
  toMs: number;
  timeframe: Timeframe;
}

/** How a dataset is read out of the store, a bounded piece at a time. */
export interface Exporter {
  columns: readonly string[];
  rows(store: Store, range: ExportRange): AsyncIterable<ExportRow>;
}

const barsAtOnce = 20_000;

const stockBars: Exporter = {
  columns: ['symbol', 'timeframe', 'ts_ms', 'open', 'high', 'low', 'close', 'volume', 'vwap', 'trade_count'],
  async *rows(store, { symbol, timeframe, fromMs, toMs }) {
    const { readBars } = await import('../store/bar-blocks.ts');
    for (let start = fromMs; ; ) {
      const range = { fromMs: start, toMs, limit: barsAtOnce };
      const { bars, more } = (await readBars(store, [symbol], timeframe, range)).get(symbol)!;
      for (let i = 0; i < bars.tsMs.length; i++) {
        const { tsMs, open, high, low, close, volume, vwap, tradeCount } = barAt(bars, i);
        yield { symbol, timeframe, ts_ms: tsMs, open, high, low, close, volume, vwap, trade_count: tradeCount };
      }
      if (!more) return;
      start = bars.tsMs.at(-1)! + 1;
    }
  },
};

/** What can be exported, by the name used on the command line. */
export const exporters: Record<string, Exporter> = {
  'stock-bars': stockBars,
};
