import pg from 'pg';
import { keptModels, supersededTable } from '../rows/models/kept-models.ts';
import { type Model, tableOf } from '../rows/models/model-tables.ts';
import { columnNames } from '../rows/models/row-values.ts';

/** An instant of knowledge. */
export interface Knowledge {
  /** Epoch ms. */
  atMs: number;
  /** When the generations began that were being written at the instant, epoch ms: they were not known yet. */
  unfinishedMs: readonly number[];
}

const lastMs = '9223372036854775807';
const among = (column: string, instants: readonly number[]) =>
  instants.length === 0 ? 'false' : `${column} IN (${instants.join(', ')})`;

/** The rows of a table as they were known: those in force, and those that were replaced since. */
function knownRows(schema: string, model: Model, { atMs, unfinishedMs }: Knowledge): string {
  const { table, fields } = tableOf(model);
  const columns = columnNames(fields).join(', ');
  return `SELECT ${columns} FROM (
      SELECT ${columns}, coalesce(generation_ms, 0) AS known_ms, ${lastMs}::int8 AS superseded_ms FROM ${schema}.${table}
      UNION ALL SELECT ${columns}, generation_ms, superseded_ms FROM ${schema}.${supersededTable(model)}
    ) AS v WHERE v.known_ms <= ${atMs} AND NOT ${among('v.known_ms', unfinishedMs)}
      AND (v.superseded_ms > ${atMs} OR ${among('v.superseded_ms', unfinishedMs)})`;
}

/** The generations that were known, those in force as they stood. */
function knownGenerations(schema: string, { atMs }: Knowledge): string {
  const { table, fields } = tableOf('Generation');
  const columns = columnNames(fields).map((column) =>
    column === 'superseded_ms' ? `CASE WHEN superseded_ms <= ${atMs} THEN superseded_ms END AS superseded_ms` : column,
  );
  return `SELECT ${columns.join(', ')} FROM ${schema}.${table} WHERE ingested_ms <= ${atMs}`;
}

const readKept: readonly Model[] = [...keptModels, 'Generation'];
const mentions = readKept.map((model) => {
  const { table } = tableOf(model);
  return { model, table, pattern: new RegExp(String.raw`\b${table}\b`) };
});

/**
 * A statement that reads what was known at an instant: each table whose replaced rows are kept is shadowed by an
 * expression of its name. PostgreSQL plans it with the statement, so conditions reach the indexes of both tables.
 */
export function knownText(named: string, text: string, knowledge: Knowledge): string {
  const schema = pg.escapeIdentifier(named);
  const shadows = mentions
    .filter(({ pattern }) => pattern.test(text))
    .map(({ model, table }) => {
      const rows = model === 'Generation' ? knownGenerations(schema, knowledge) : knownRows(schema, model, knowledge);
      return `${table} AS NOT MATERIALIZED (${rows})`;
    });
  if (shadows.length === 0) return text;
  // Prisma qualifies every table; a shadow has no schema.
  const plain = text.replaceAll(`${schema}.`, '');
  const begun = /^\s*WITH\s+(RECURSIVE\s+)?/i.exec(plain);
  if (!begun) return `WITH ${shadows.join(', ')} ${plain}`;
  return `WITH ${begun[1] ?? ''}${shadows.join(', ')}, ${plain.slice(begun[0].length)}`;
}
