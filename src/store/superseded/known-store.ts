import pg from 'pg';
import { invalidParameter } from '../../platform/wire/failure.ts';
import type { Store } from '../rows/connection.ts';
import { keptModels, supersededTable } from '../rows/models/kept-models.ts';
import { type Model, tableOf } from '../rows/models/model-tables.ts';
import { modelsThrough } from '../rows/models/models-through.ts';
import { numbered } from '../rows/models/numbered-rows.ts';
import { columnNames } from '../rows/models/row-values.ts';
import type { Reader } from '../rows/reader.ts';
import type { Snapshot } from '../rows/snapshots.ts';
import { readKnownFrom } from './generation.ts';

/** A snapshot that reads of instants of knowledge share. */
export interface KnownSnapshot {
  snapshot: Snapshot;
  /** Changes of the data that the process knew before it was taken; null = it was taken before. */
  changesBefore: number | null;
}

/** A store that reads data as it was known at an instant, epoch ms; nothing that it reads is held by the process. */
export function knownStore(store: Store, { snapshot, changesBefore }: KnownSnapshot, atMs: number): Store {
  const { versions, schema } = store;
  let loading: Promise<(text: string) => string> | null = null;

  async function load(): Promise<(text: string) => string> {
    const { knownFromMs, ...knowledge } = await readKnowledge(snapshot.reader, atMs);
    if (knownFromMs !== null && atMs < knownFromMs)
      throw invalidParameter(
        'known',
        `expected ${new Date(knownFromMs).toISOString()} (${knownFromMs}) or later, the oldest generation that is stored`,
      );
    return (text) => knownText(schema, text, knowledge);
  }
  const change = () => {
    loading ??= load();
    return loading;
  };

  const reader: Reader = {
    routing: snapshot.reader.routing,
    query: async (statement, values) => snapshot.rewritten(await change()).query(statement, values),
    prisma: modelsThrough(async (call) => call(snapshot.rewritten(await change()).prisma)),
  };
  const known: Store['known'] = {
    atMs,
    today: store,
    versionOf: (subject, symbol) => (versions.count === changesBefore ? versions.of(subject, symbol) : null),
    check: async () => void (await change()),
    async statement({ name: _, ...config }): Promise<pg.QueryConfig> {
      return { ...config, text: (await change())(config.text) };
    },
  };
  return { ...store, view: null, snapshot, reader, primary: reader, prisma: reader.prisma, replicas: null, known };
}

/** An instant of knowledge, and from when on the store has all that was known. */
interface StoredKnowledge extends Knowledge {
  /** First instant of knowledge whose data is stored whole, epoch ms; null = all is. */
  knownFromMs: number | null;
}

/** Reads what is stored of an instant of knowledge, epoch ms. */
export async function readKnowledge(from: Pick<Reader, 'prisma'>, atMs: number): Promise<StoredKnowledge> {
  const [knownFromMs, runs] = await Promise.all([
    readKnownFrom(from),
    from.prisma.generationRun.findMany({
      where: { begunMs: { lte: atMs }, endedMs: { gt: atMs } },
      select: { begunMs: true },
    }),
  ]);
  return { atMs, knownFromMs, unfinishedMs: runs.map(numbered).map(({ begunMs }) => begunMs) };
}

/** An instant of knowledge. */
interface Knowledge {
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
