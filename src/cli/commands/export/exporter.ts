import type { Timeframe } from '../../../domain/market/bar.ts';
import type { Cell, ColumnType } from '../../../rest/contract/table.ts';
import type { Store } from '../../../store/rows/connection.ts';

/** One exported row by wire name. Null = unknown. */
export type ExportRow = Record<string, Cell>;

/** Range of an export: instants are half-open [fromMs, toMs), epoch ms. */
export interface ExportRange {
  /** A ticker; the underlying of options. Null = every symbol, where a dataset can be exported whole. */
  symbol: string | null;
  fromMs: number;
  toMs: number;
  timeframe: Timeframe;
}

/** Reads a dataset out of the store, a bounded piece at a time. */
export interface Exporter {
  /** For `--help`. */
  describes: string;
  /** True if it can be exported without `--symbol`. */
  whole: boolean;
  /** The bar lengths it has; absent = all of them, or none applies. */
  timeframes?: readonly Timeframe[];
  /** By wire name, in their order. */
  columns: Readonly<Record<string, ColumnType>>;
  rows(store: Store, range: ExportRange): AsyncIterable<ExportRow>;
}
