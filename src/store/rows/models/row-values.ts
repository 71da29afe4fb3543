import type { Prisma } from '../../../../generated/store/client.ts';
import { type Model, type TableField, tableOf } from './model-tables.ts';

type Scalars<M extends Model> = Prisma.TypeMap['model'][M]['payload']['scalars'];
type Plain<T> = T extends bigint
  ? number
  : T extends Uint8Array
    ? Uint8Array
    : T extends (infer E)[]
      ? readonly E[]
      : T;

/** A row of a model: numbers for BIGINTs. */
export type Row<M extends Model> = { [Field in keyof Scalars<M>]: Plain<Scalars<M>[Field]> };
/** Names of fields of a model. */
export type FieldOf<M extends Model> = keyof Row<M> & string;

/** Fields of a model by their names. */
export function fieldsOf(model: Model, names: readonly string[]): TableField[] {
  const { fields } = tableOf(model);
  return names.map((name) => fields.find(({ field }) => field === name)!);
}

/** The fields of a model's primary key. */
export function keyOf(model: Model): string[] {
  const { fields, indexes } = tableOf(model);
  const id = indexes.find(({ kind }) => kind === 'id')!;
  return id.columns.map(({ column }) => fields.find((each) => each.column === column)!.field);
}

/** Names of the columns of fields. */
export const columnNames = (fields: readonly TableField[]) => fields.map(({ column }) => column);

/**
 * A set of rows as parameters, one list per column. Citus supports `unnest` of one list, but not of several at once.
 */
export function unnested(fields: readonly TableField[]): string {
  return fields
    .map(({ type, list, column }, i) => {
      if (list) return `unnest($${i + 1}::text[])::${type}[] AS ${column}`;
      return `unnest($${i + 1}::${type}[]) AS ${column}`;
    })
    .join(', ');
}

function listText(list: readonly unknown[]): string {
  const quoted = (value: unknown) =>
    typeof value === 'string' ? `"${value.replace(/["\\]/g, '\\$&')}"` : String(value);
  return `{${list.map(quoted).join(',')}}`;
}

// A view of other memory would be written as the list of its numbers.
const asBuffer = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** The parameters of `unnested`. */
export function valuesOf(fields: readonly TableField[], rows: readonly object[]): unknown[] {
  return fields.map(({ field, type, list }) =>
    rows.map((row) => {
      const value = (row as Record<string, unknown>)[field];
      if (list) return listText(value as unknown[]);
      if (type === 'jsonb') return JSON.stringify(value);
      return type === 'bytea' && value !== null ? asBuffer(value as Uint8Array) : value;
    }),
  );
}

/** The join of the rows `w` of a set with those of the table, `t`, by some fields. */
export const joined = (fields: readonly TableField[]) =>
  fields.map(({ column }) => `t.${column} = w.${column}`).join(' AND ');

/** Treatment of a row whose key exists. */
export interface OnConflict<M extends Model> {
  /** Numbers that are added to the stored ones instead of replacing them. */
  add?: readonly FieldOf<M>[];
  /** Replaces the row only if one of these fields differs. */
  ifDifferent?: readonly FieldOf<M>[];
  /** Replaces the row only if this field is not smaller. */
  unlessBelow?: FieldOf<M>;
}

/** The condition under which a row `after` replaces a row `before`, with AND before it; empty = always. */
export function replacing<M extends Model>(
  model: M,
  { ifDifferent, unlessBelow }: OnConflict<M>,
  { before, after }: { before: string; after: string },
): string[] {
  const columns = (prefix: string, names: readonly string[]) =>
    fieldsOf(model, names)
      .map(({ column }) => `${prefix}.${column}`)
      .join(', ');
  return [
    ...(ifDifferent ? [`(${columns(before, ifDifferent)}) IS DISTINCT FROM (${columns(after, ifDifferent)})`] : []),
    ...(unlessBelow ? [`${columns(before, [unlessBelow])} <= ${columns(after, [unlessBelow])}`] : []),
  ];
}

/**
 * A PostgreSQL bigint as a number (epoch ms, shares, contracts, counts). Throws beyond ±(2^53 − 1), where a number
 * would no longer be exact, so that nothing is rounded silently.
 */
export function toNumber(value: bigint): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new RangeError(`${value} is beyond the integers a number holds exactly.`);
  return number;
}
