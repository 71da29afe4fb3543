import { restNames, restTypes } from '../../../domain/columns.ts';
import type { BarColumns } from '../../../domain/market/bar.ts';
import { barNumbers } from '../../../domain/market/bar-columns.ts';
import { rowReader } from '../../../domain/rows-in-columns.ts';
import type { ExportRow } from './exporter.ts';

/** Columns of a bar of a stock or an option contract. */
export const barColumns = { timeframe: 'text', ...restTypes(barNumbers) } as const;

/** The numbers of the bar at an index by their columns. */
export const exportedBar: (bars: BarColumns, index: number) => ExportRow = rowReader(barNumbers, {
  names: restNames(barNumbers),
});
