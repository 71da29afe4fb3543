import { barAt, type Timeframe } from '../domain/bar.ts';
import type { Store } from '../store/connection.ts';

/** One exported row by wire name. Null = unknown. */
export type ExportRow = Record<string, string | number | boolean | null>;

/** What to export: instants are half-open [fromMs, toMs), epoch ms. */
export interface ExportRange {
  /** A ticker; the underlying of options. Null = every symbol, where a dataset can be exported whole. */
  symbol: string | null;
  fromMs: number;
  toMs: number;
  timeframe: Timeframe;
}

/** How a dataset is read out of the store, a bounded piece at a time. */
export interface Exporter {
  /** For `--help`. */
  describes: string;
  /** Whether it can be exported without saying of which symbol. */
  whole: boolean;
  columns: readonly string[];
  rows(store: Store, range: ExportRange): AsyncIterable<ExportRow>;
}

const barsAtOnce = 20_000;

const stockBars: Exporter = {
  describes: 'bars of a stock, of the length of --timeframe',
  whole: false,
  columns: ['symbol', 'timeframe', 'ts_ms', 'open', 'high', 'low', 'close', 'volume', 'vwap', 'trade_count'],
  async *rows(store, { symbol, timeframe, fromMs, toMs }) {
    if (symbol === null) return;
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

// The columns of the symbol list, so that what is exported here can be ingested there.
const symbols: Exporter = {
  describes: 'the registry and ticker directory, in the columns that ingest reads; all without --symbol',
  whole: true,
  columns: [
    'symbol',
    'name',
    'class',
    'window_days',
    'tenor_frame',
    'min_tier',
    'requires_attestation',
    'sector',
    'listed',
    'instrument_type',
  ],
  async *rows(store, { symbol }) {
    const { allSymbols } = await import('../store/symbols.ts');
    for (const entry of await allSymbols(store)) {
      if (symbol !== null && entry.symbol !== symbol) continue;
      yield {
        symbol: entry.symbol,
        name: entry.name,
        class: entry.class,
        window_days: entry.windowDays,
        tenor_frame: entry.tenorFrame,
        min_tier: entry.minTier,
        requires_attestation: entry.requiresAttestation,
        sector: entry.sector,
        listed: entry.registered,
        instrument_type: entry.instrumentType,
      };
    }
  },
};

/** What can be exported, by the name used on the command line. */
export const exporters: Record<string, Exporter> = {
  symbols,
  'stock-bars': stockBars,
};
