import { readFileSync } from 'node:fs';
import type pg from 'pg';
import { divisible } from '../cluster/routing.ts';
import { type Model, plainColumns } from './models/model-tables.ts';
import type { Reader } from './reader.ts';

/** JavaScript types of PostgreSQL's types. */
interface Values {
  text: string;
  bool: boolean;
  int4: number;
  /** Checked: throws beyond 2^53 − 1. */
  int8: number;
  float8: number;
  bytea: Buffer;
  'text[]': readonly string[];
  'bool[]': readonly boolean[];
  'int4[]': readonly number[];
  'int8[]': readonly number[];
  'float8[]': readonly number[];
  'bytea[]': readonly Uint8Array[];
  void: '';
}

/** A type, with `?` if the value, or an item of a list, may be null. */
export type SqlType = keyof Values | `${keyof Values}?`;
type ListOf<T> = T extends readonly (infer E)[] ? readonly (E | null)[] : T | null;
type ValueOf<T> = T extends keyof Values
  ? Values[T]
  : T extends `${infer Known extends keyof Values}?`
    ? ListOf<Values[Known]>
    : never;
type Nullable<T> = { [Name in keyof T]: T[Name] extends `${string}?` ? T[Name] : `${T[Name] & string}?` };

/** The columns of an outer join: each may be null. */
export function nullable<const Columns extends Types>(columns: Columns): Nullable<Columns> {
  const named = Object.entries(columns).map(([name, type]) => [name, type.endsWith('?') ? type : `${type}?`]);
  return Object.fromEntries(named) as Nullable<Columns>;
}

type Typed<T> = { [Name in keyof T]: ValueOf<T[Name]> };
type Types = Readonly<Record<string, SqlType>>;

/**
 * An SQL statement: a file of `sql/`, and the types of its parameters, in the order of their numbers, and of its
 * columns.
 */
export interface Statement<Parameters extends Types = Types, Columns extends Types = Types> {
  readonly name: string;
  readonly text: string;
  readonly parameters: Parameters;
  readonly columns: Columns;
  /** Runs it and returns its rows: those of a symbol in order, on a distributed store symbol by symbol. */
  rows(from: Queries, values: Typed<Parameters>): Promise<Typed<Columns>[]>;
  /** Runs it and returns the number of rows it returned or changed. */
  count(from: Pick<Reader, 'query'>, values: Typed<Parameters>): Promise<number>;
  /** The statement for `pg` itself. */
  query(values: Typed<Parameters>): pg.QueryConfig;
  /** The statements for `pg` itself, for streaming rows: one, or on a distributed store one per symbol. */
  queries(from: Pick<Reader, 'routing'>, values: Typed<Parameters>): pg.QueryConfig[];
}

/** The sender of a statement. */
export type Queries = Pick<Reader, 'query' | 'routing'>;

/** All statements, by name. A test prepares them and compares their types with PostgreSQL's. */
export const statements = new Map<string, Statement>();

/** The columns of a model by the names of its fields. */
function columnsOf(model: string, alias: string): string {
  return plainColumns(model as Model)
    .map(({ field, column }) => `${alias}.${column} AS "${field}"`)
    .join(', ');
}

/** Reads `sql/<name>.sql`. The comments at its head are not sent. */
function textOf(name: string): string {
  const file = readFileSync(new URL(`sql/${name}.sql`, import.meta.url), 'utf8');
  const written = file.replace(/^(\s*--.*\n)+/, '').trim();
  return written.replace(/\{([A-Z]\w+) (\w+)\}/g, (_, model: string, alias: string) => columnsOf(model, alias));
}

/**
 * The statement of `sql/<name>.sql`, read once, when the process starts. `{Model alias}` stands for the model's
 * columns, except bytes.
 */
export function statement<const Parameters extends Types, const Columns extends Types>(
  name: string,
  parameters: Parameters,
  columns: Columns,
): Statement<Parameters, Columns> {
  const text = textOf(name);
  const sent = divisible<Typed<Parameters>>(name, text, Object.keys(parameters));
  const made: Statement<Parameters, Columns> = {
    name,
    text,
    parameters,
    columns,
    query: sent.all,
    queries: ({ routing }, values) => routing.split(sent, values).map(({ query }) => query),
    rows: (from, values) => from.routing.rows(sent, values, (query) => from.query<Typed<Columns>>(query)),
    count: async (from, values) => (await from.query(sent.all(values))).rowCount ?? 0,
  };
  statements.set(name, made as unknown as Statement);
  return made;
}
