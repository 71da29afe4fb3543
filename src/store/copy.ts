import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { Transaction } from './transaction.ts';

/** A value of a row to be copied; null = SQL null. */
export type CopyValue = string | number | bigint | boolean | Uint8Array | readonly (string | number)[] | null;

const chunkCharacters = 64 * 1024;

/**
 * Writes rows into a table by COPY, the fastest way in, and returns how many. Values stand in the order of `columns`. Rows
 * are taken as the database takes them, so memory stays flat. A row that breaks a key fails the transaction: COPY has no
 * ON CONFLICT; copy into a temporary table where rows may be there already.
 */
export async function copyInto(
  tx: Transaction,
  table: string,
  columns: readonly string[],
  rows: Iterable<readonly CopyValue[]> | AsyncIterable<readonly CopyValue[]>,
): Promise<number> {
  const names = columns.map((name) => pg.escapeIdentifier(name)).join(', ');
  const stream = tx.query(copyFrom(`copy ${pg.escapeIdentifier(table)} (${names}) from stdin`));
  await pipeline(Readable.from(chunks(rows, columns.length)), stream);
  return stream.rowCount;
}

async function* chunks(
  rows: Iterable<readonly CopyValue[]> | AsyncIterable<readonly CopyValue[]>,
  width: number,
): AsyncGenerator<string> {
  let chunk = '';
  for await (const row of rows) {
    if (row.length !== width) throw new RangeError(`A row to be copied has ${row.length} values, expected ${width}.`);
    chunk += `${row.map(field).join('\t')}\n`;
    if (chunk.length < chunkCharacters) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}

function field(value: CopyValue): string {
  if (value === null) return '\\N';
  if (typeof value === 'string') return escaped(value);
  if (value instanceof Uint8Array)
    return `\\\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')}`;
  if (typeof value === 'object') return escaped(`{${value.map(element).join(',')}}`);
  return Object.is(value, -0) ? '-0' : String(value);
}

const element = (value: string | number) =>
  typeof value === 'number' ? String(value) : `"${value.replace(/["\\]/g, '\\$&')}"`;

const escapes: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };
const escaped = (text: string) => text.replace(/[\\\t\n\r]/g, (character) => escapes[character]!);
