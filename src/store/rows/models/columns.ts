import type { SqlType } from '../statement.ts';
import { type Model, tableOf } from './model-tables.ts';
import type { FieldOf, Row } from './sets.ts';

type TypeOf<T> = T extends number ? 'float8' : T extends boolean ? 'bool' : 'text';

/** The names of a model's fields. */
export function fieldNames<M extends Model>(model: M): readonly FieldOf<M>[] {
  return tableOf(model).fields.map(({ field }) => field as FieldOf<M>);
}

/**
 * The columns of a model without lists, bytes and nulls, as a statement declares those that it reads by
 * `{Model alias}`.
 */
export function columnTypes<M extends Model>(model: M): { [Field in FieldOf<M>]: TypeOf<Row<M>[Field]> } {
  const types = tableOf(model).fields.map(({ field, type }): [string, SqlType] => [field, type as SqlType]);
  return Object.fromEntries(types) as { [Field in FieldOf<M>]: TypeOf<Row<M>[Field]> };
}

/** Prisma's `select` of these fields. */
export function selection<const Field extends string>(fields: readonly Field[]): { [F in Field]: true } {
  return Object.fromEntries(fields.map((field) => [field, true])) as { [F in Field]: true };
}
