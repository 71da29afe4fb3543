import { createHash } from 'node:crypto';
import type pg from 'pg';
import type { Queries } from '../statement.ts';
import type { Transaction } from '../transaction.ts';
import { isKept } from './kept-models.ts';
import { type Model, type TableField, tableOf } from './model-tables.ts';
import {
  columnNames,
  type FieldOf,
  fieldsOf,
  joined,
  keyOf,
  type OnConflict,
  type Row,
  replacing,
  unnested,
  valuesOf,
} from './row-values.ts';
import { keepDeleted, keepUpserted } from './superseded.ts';

// Prisma compiles every `createMany` again (215 ms of CPU for 1,000 rows of 10 columns, 5 ms here), has no upsert of
// many rows, and no condition on many keys of several columns. These statements are generated from the models: one text
// per model, for any number of rows.

/** A row as read: bytes are a Buffer. */
type Found<M extends Model, Field extends FieldOf<M>> = {
  [F in Field]: Row<M>[F] extends Uint8Array ? Buffer : Row<M>[F];
};

const columnsOf = (fields: readonly TableField[]) => columnNames(fields).join(', ');

function onConflict<M extends Model>(model: M, how: OnConflict<M>): string {
  const { table, fields } = tableOf(model);
  const key = keyOf(model);
  const set = fields
    .filter(({ field }) => !key.includes(field))
    .map(({ field, column }) => {
      const added = (how.add as readonly string[] | undefined)?.includes(field);
      return `${column} = ${added ? `${table}.${column} + ` : ''}excluded.${column}`;
    });
  // The generation that writes the row, as the default of its column has it.
  if (isKept(model)) set.push('generation_ms = excluded.generation_ms');
  const conditions = replacing(model, how, { before: table, after: 'excluded' });
  const where = conditions.length > 0 ? ` WHERE ${conditions.join(' AND ')}` : '';
  return `ON CONFLICT (${columnsOf(fieldsOf(model, key))}) DO UPDATE SET ${set.join(', ')}${where}`;
}

const made = new Map<string, { name: string; text: string }>();

/** A statement for a purpose, whose text is built once. Names of prepared statements are short. */
function named(purpose: string, text: () => string, values: unknown[]): pg.QueryConfig {
  let known = made.get(purpose);
  if (!known) {
    known = { name: createHash('sha1').update(purpose).digest('base64url'), text: text() };
    made.set(purpose, known);
  }
  return { ...known, values };
}

/** Rows in the order of their keys: two transactions that write new rows of the same keys wait, and cannot deadlock. */
function inKeyOrder(model: Model, rows: readonly object[]): readonly object[] {
  const key = keyOf(model);
  const compare = (a: object, b: object) => {
    for (const field of key) {
      const [one, other] = [(a as Record<string, never>)[field]!, (b as Record<string, never>)[field]!];
      if (one !== other) return one < other ? -1 : 1;
    }
    return 0;
  };
  const isOrdered = rows.every((row, i) => i === 0 || compare(rows[i - 1]!, row) <= 0);
  return isOrdered ? rows : rows.toSorted(compare);
}

async function insert(tx: Transaction, model: Model, name: string, conflict: () => string, given: readonly object[]) {
  if (given.length === 0) return 0;
  const rows = inKeyOrder(model, given);
  const { table, fields } = tableOf(model);
  const returning = tx.routing.counting;
  const text = () => `INSERT INTO ${table} (${columnsOf(fields)}) SELECT ${unnested(fields)} ${conflict()}${returning}`;
  const { rowCount } = await tx.query(named(`${name}${returning}`, text, valuesOf(fields, rows)));
  if (rowCount) tx.changes.addRows(model, rows);
  return rowCount ?? 0;
}

/** Inserts rows whose keys are new; of two with one key the first counts. Returns their number. */
export function insertRows<M extends Model>(tx: Transaction, model: M, rows: readonly Row<M>[]): Promise<number> {
  return insert(tx, model, `insert ${model}`, () => 'ON CONFLICT DO NOTHING', rows);
}

/** Inserts rows or replaces those with their keys; no two may have the same key. Returns the number of written rows. */
export async function upsertRows<M extends Model>(
  tx: Transaction,
  model: M,
  rows: readonly Row<M>[],
  how: OnConflict<M> = {},
): Promise<number> {
  if (rows.length > 0) await keepUpserted(tx, model, rows, how);
  return insert(tx, model, `upsert ${model} ${JSON.stringify(how)}`, () => onConflict(model, how), rows);
}

/** Rows of a key, or of a part of one. */
export interface KeySet<M extends Model, By extends FieldOf<M>> {
  by: readonly By[];
  keys: readonly Pick<Row<M>, By>[];
}

/**
 * Reads fields of the rows of several keys, in any order. Bytes are returned directly; Prisma would encode them as
 * base64.
 */
export async function findRows<M extends Model, By extends FieldOf<M>, Field extends FieldOf<M>>(
  from: Queries,
  model: M,
  { by, keys }: KeySet<M, By>,
  select: readonly Field[],
): Promise<Found<M, Field>[]> {
  if (keys.length === 0) return [];
  const { table } = tableOf(model);
  const wanted = fieldsOf(model, by);
  const values = valuesOf(wanted, keys);
  const columns = fieldsOf(model, select).map(({ field, column }) => `t.${column} AS "${field}"`);
  const one = from.routing.ofOneSymbol(table, columnNames(wanted), values);
  const text = () =>
    `SELECT ${columns.join(', ')} FROM (SELECT ${unnested(wanted)}) AS w JOIN ${table} AS t ON ${joined(wanted)}${one}`;
  const name = `find ${model} by ${by.join()}: ${select.join()}${one}`;
  const { rows } = await from.query<Found<M, Field>>(named(name, text, values));
  return rows;
}

/** Deletes the rows of several keys and returns their number. */
export async function deleteRows<M extends Model, By extends FieldOf<M>>(
  tx: Transaction,
  model: M,
  { by, keys }: KeySet<M, By>,
): Promise<number> {
  if (keys.length === 0) return 0;
  await keepDeleted(tx, model, { by, keys });
  const { table } = tableOf(model);
  const wanted = fieldsOf(model, by);
  const values = valuesOf(wanted, keys);
  const one = tx.routing.ofOneSymbol(table, columnNames(wanted), values);
  const text = () => `DELETE FROM ${table} AS t USING (SELECT ${unnested(wanted)}) AS w WHERE ${joined(wanted)}${one}`;
  const { rowCount } = await tx.query(named(`delete ${model} by ${by.join()}${one}`, text, values));
  if (rowCount) tx.changes.addRows(model, keys);
  return rowCount ?? 0;
}
