import { allModels, tableOf } from '../../src/store/rows/models/model-tables.ts';

/**
 * The columns of a table's rows as the store reads them, for SELECT. The generation that wrote a row is not among them:
 * it differs between two ways to the same data.
 */
export function modelColumns(table: string): string {
  const rows = table.replace('superseded_', '');
  const model = allModels.find((each) => tableOf(each).table === rows)!;
  return tableOf(model)
    .fields.map(({ column }) => column)
    .join(', ');
}
