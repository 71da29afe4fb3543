import { restNames, restTypes } from '../../../core/domain/columns.ts';
import type { BarColumns } from '../../../core/domain/market/bar.ts';
import { barNumbers } from '../../../core/domain/market/bar-columns.ts';
import { rowReader } from '../../../core/domain/rows-in-columns.ts';
import type { ExportRow } from './exporter.ts';

/** Columns of a bar of a stock or an option contract. */
export const barColumns = { timeframe: 'text', ...restTypes(barNumbers) } as const;

/** The numbers of the bar at an index by their columns. */
export const exportedBar: (bars: BarColumns, index: number) => ExportRow = rowReader(barNumbers, {
  names: restNames(barNumbers),
});
