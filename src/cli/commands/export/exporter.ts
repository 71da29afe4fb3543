import type { Timeframe } from '../../../core/domain/market/bar.ts';
import type { Cell, ColumnType } from '../../../rest/contract/table.ts';
import type { Store } from '../../../store/rows/connection.ts';

/** One exported row by wire name. Null = unknown. */
export type ExportRow = Record<string, Cell>;

/** Range of an export: instants are half-open [fromMs, toMs), epoch ms. */
export interface ExportRange {
  /** A ticker; the underlying of options. Null = every symbol, for datasets that can be exported whole. */
  symbol: string | null;
  fromMs: number;
  toMs: number;
  timeframe: Timeframe;
}

/** Reads a dataset from the store, in bounded chunks. */
export interface Exporter {
  /** Description for `--help`. */
  describes: string;
  /** True if it can be exported without `--symbol`. */
  whole: boolean;
  /** The New York date of a row, by which files of a folder are divided; absent = they are not. */
  dateOf?: (row: ExportRow) => string;
  /** Its bar lengths; absent = all, or none applies. */
  timeframes?: readonly Timeframe[];
  /** Its columns by wire name, in order. */
  columns: Readonly<Record<string, ColumnType>>;
  rows(store: Store, range: ExportRange): AsyncIterable<ExportRow>;
}
