import type { Reader } from '../reader.ts';
import { isKept, supersededTable } from './kept-models.ts';
import { type Model, tableOf } from './model-tables.ts';
import {
  columnNames,
  type FieldOf,
  fieldsOf,
  joined,
  keyOf,
  type OnConflict,
  replacing,
  unnested,
  valuesOf,
} from './row-values.ts';

/** Parts of tables, such as a symbol's session, that have no row of an earlier generation. None comes any more. */
export interface FirstParts {
  /** As of the last commit. */
  readonly committed: ReadonlySet<string>;
  /** Found by the transaction, which may be rolled back. */
  readonly found: Set<string>;
}

/** The generation that a transaction writes. */
export interface WrittenGeneration {
  /** When it began, epoch ms: rows of earlier ones are kept when they are replaced. */
  begunMs: number;
  /** Set for a generation of many commits: each would look for earlier rows again. */
  first: FirstParts | null;
  /** True once a row was replaced that is not kept. */
  hasLost: boolean;
}

/** A transaction that may write a generation. */
export interface GenerationWriter extends Pick<Reader, 'query' | 'routing'> {
  /** The generation that it writes; null = none. */
  generation: WrittenGeneration | null;
  /** True if rows that a generation replaces are kept. */
  readonly keepsSuperseded: boolean;
}

/** Rows about to be replaced or deleted, `w`, and the number of their parameters. */
interface Replaced {
  /** Source of the rows `w`. */
  from: string;
  /** Join of `w` with the table, `t`, and further conditions. */
  where: string;
  values: readonly unknown[];
}

/** Keeps rows of earlier generations that a transaction is about to replace or delete. */
async function keepReplaced(tx: GenerationWriter, model: Model, { from, where, values }: Replaced): Promise<void> {
  const generation = tx.generation!;
  const { table, fields } = tableOf(model);
  const last = `$${values.length + 1}::int8`;
  const rows = `FROM (${from}) AS w JOIN ${table} AS t ON ${where} AND coalesce(t.generation_ms, 0) < ${last}`;
  const parameters = [...values, generation.begunMs];
  if (!tx.keepsSuperseded) {
    generation.hasLost ||= (await tx.query(`SELECT 1 ${rows} LIMIT 1`, parameters)).rowCount !== 0;
    return;
  }
  const columns = columnNames(fields);
  await tx.query(
    `INSERT INTO ${supersededTable(model)} (${columns.join(', ')}, generation_ms, superseded_ms)
     SELECT ${columns.map((column) => `t.${column}`).join(', ')}, coalesce(t.generation_ms, 0), ${last} ${rows}
     ON CONFLICT DO NOTHING`,
    parameters,
  );
}

const partFields: ReadonlySet<string> = new Set(['symbol', 'underlying', 'scope', 'sessionDate', 'spanStart']);

/** The rows whose parts of the table have rows of earlier generations. */
async function rowsAfterEarlier(
  tx: GenerationWriter,
  model: Model,
  rows: readonly object[],
  given: readonly string[],
): Promise<readonly object[]> {
  const { first, begunMs } = tx.generation!;
  const names = keyOf(model).filter((name) => partFields.has(name));
  if (first === null || names.some((name) => !given.includes(name))) return rows;
  const { table } = tableOf(model);
  const fields = fieldsOf(model, names);
  const partOf = (row: object) =>
    [model, ...fields.map(({ field }) => (row as Record<string, unknown>)[field])].join(' ');
  const unsure = new Map(rows.map((row) => [partOf(row), row]));
  for (const part of unsure.keys()) if (first.committed.has(part) || first.found.has(part)) unsure.delete(part);
  if (unsure.size === 0) return [];
  const values = valuesOf(fields, [...unsure.values()]);
  const found = await tx.query(
    `SELECT DISTINCT ${fields.map(({ field, column }) => `w.${column} AS "${field}"`).join(', ')}
     FROM (SELECT ${unnested(fields)}) AS w JOIN ${table} AS t ON ${joined(fields)}${tx.routing.ofOneSymbol(table, columnNames(fields), values)}
       AND coalesce(t.generation_ms, 0) < $${values.length + 1}::int8`,
    [...values, begunMs],
  );
  const earlier = new Set(found.rows.map(partOf));
  for (const part of unsure.keys()) if (!earlier.has(part)) first.found.add(part);
  return rows.filter((row) => earlier.has(partOf(row)));
}

/** Keeps the rows that those of an upsert are about to replace, if a generation is written; call it before. */
export async function keepUpserted<M extends Model>(
  tx: GenerationWriter,
  model: M,
  written: readonly object[],
  how: OnConflict<M>,
): Promise<void> {
  if (tx.generation === null || !isKept(model)) return;
  const key = keyOf(model);
  const rows = await rowsAfterEarlier(tx, model, written, key);
  if (rows.length === 0) return;
  const compared = [...(how.ifDifferent ?? []), ...(how.unlessBelow ? [how.unlessBelow] : [])];
  const wanted = fieldsOf(model, [...new Set([...key, ...compared])]);
  const values = valuesOf(wanted, rows);
  const one = tx.routing.ofOneSymbol(tableOf(model).table, columnNames(wanted), values);
  const conditions = replacing(model, how, { before: 't', after: 'w' }).map((each) => ` AND ${each}`);
  const where = `${joined(fieldsOf(model, key))}${one}${conditions.join('')}`;
  await keepReplaced(tx, model, { from: `SELECT ${unnested(wanted)}`, where, values });
}

/** Rows about to be deleted. */
export interface Deleted<By> {
  by: readonly By[];
  keys: readonly object[];
  /** Join of the keys `w` with the table, `t`; default: those of the keys. */
  where?: string;
}

/** Keeps rows that are about to be deleted, if a generation is written; call it before. */
export async function keepDeleted<M extends Model, By extends FieldOf<M>>(
  tx: GenerationWriter,
  model: M,
  { by, keys: deleted, where }: Deleted<By>,
): Promise<void> {
  if (tx.generation === null || !isKept(model)) return;
  const keys = await rowsAfterEarlier(tx, model, deleted, by);
  if (keys.length === 0) return;
  const wanted = fieldsOf(model, by);
  const values = valuesOf(wanted, keys);
  const one = tx.routing.ofOneSymbol(tableOf(model).table, columnNames(wanted), values);
  await keepReplaced(tx, model, {
    from: `SELECT ${unnested(wanted)}`,
    where: `${where ?? joined(wanted)}${one}`,
    values,
  });
}
