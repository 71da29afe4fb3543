import { modelSubjects } from '../../versions/subjects.ts';
import { copyChunks, copyInto } from '../copy.ts';
import type { CopyValue } from '../copy-encoding.ts';
import type { Transaction } from '../transaction.ts';
import { copyColumns, copyValues, type EncodedRows } from './encoded-rows.ts';
import { type Model, tableOf } from './model-tables.ts';
import type { Row } from './row-values.ts';

/**
 * Writes rows by COPY, the fastest way for thousands. Their keys must not exist. Rows are consumed as fast as the
 * database accepts them.
 */
export function copyRows<M extends Model>(tx: Transaction, model: M, rows: Iterable<Row<M>>): Promise<number> {
  const valuesOf = copyValues(model);
  function* values(): Generator<CopyValue[]> {
    for (const row of rows) {
      tx.changes.addRows(model, [row]);
      yield valuesOf(row);
    }
  }
  return copyInto(tx, tableOf(model).table, copyColumns(model), values());
}

/** Like `copyRows`, for encoded rows. */
export function copyEncoded<M extends Model>(
  tx: Transaction,
  model: M,
  rows: readonly EncodedRows<M>[],
): Promise<number> {
  const owner = modelSubjects[model];
  for (const { symbol, count } of rows) if (owner && count > 0) tx.changes.add(owner.subject, symbol);
  return copyChunks(
    tx,
    tableOf(model).table,
    Object.keys(copyColumns(model)),
    rows.flatMap(({ chunks }) => chunks),
  );
}
