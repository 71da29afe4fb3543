import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { type CopyType, type CopyValue, copyEnd, copyStart, RowWriter } from './copy-encoding.ts';
import type { Transaction } from './transaction.ts';

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
export async function copyChunks(
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
