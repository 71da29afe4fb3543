import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { modelSubjects } from '../versions/subjects.ts';
import { type CopyType, type CopyValue, copyEnd, copyStart, RowWriter } from './copy-encoding.ts';
import { copyColumns, copyValues, type EncodedRows } from './models/encoded-rows.ts';
import { type Model, tableOf } from './models/model-tables.ts';
import type { Row } from './models/row-values.ts';
import type { Transaction } from './transaction.ts';

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

function* encoded(types: readonly CopyType[], rows: Iterable<readonly CopyValue[]>): Generator<Uint8Array> {
  const writer = new RowWriter(types);
  for (const row of rows) {
    writer.row(row);
    if (writer.isFull) yield writer.take();
  }
  yield writer.take();
}

function* wholeCopy(chunks: Iterable<Uint8Array>): Generator<Uint8Array> {
  yield copyStart;
  yield* chunks;
  yield copyEnd;
}

/** Like `copyInto`, for chunks of rows written by a `RowWriter`. */
async function copyChunks(
  tx: Transaction,
  table: string,
  columns: readonly string[],
  chunks: Iterable<Uint8Array>,
): Promise<number> {
  const names = columns.map((name) => pg.escapeIdentifier(name)).join(', ');
  const stream = tx.query(copyFrom(`COPY ${pg.escapeIdentifier(table)} (${names}) FROM STDIN (FORMAT BINARY)`));
  await pipeline(Readable.from(wholeCopy(chunks)), stream);
  return stream.rowCount;
}

/**
 * Writes rows into a table by binary COPY, the fastest way, and returns their number. Values are in the order of
 * `columns`, each with its type. Rows are consumed at the database's pace, so memory is bounded. A row that violates a
 * key fails the transaction, because COPY has no ON CONFLICT: remove existing rows first.
 */
export function copyInto(
  tx: Transaction,
  table: string,
  columns: Readonly<Record<string, CopyType>>,
  rows: Iterable<readonly CopyValue[]>,
): Promise<number> {
  return copyChunks(tx, table, Object.keys(columns), encoded(Object.values(columns), rows));
}
