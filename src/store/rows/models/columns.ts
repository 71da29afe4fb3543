import { type Model, plainColumns } from './model-tables.ts';
import type { FieldOf, Row } from './row-values.ts';

type Known<T> = T extends number ? 'float8' : T extends boolean ? 'bool' : 'text';
type TypeOf<T> = null extends T ? `${Known<NonNullable<T>>}?` : Known<T>;

/** The fields of a model without its bytes: what is read of a row without its payload. */
export type PlainField<M extends Model> = {
  [Field in FieldOf<M>]: NonNullable<Row<M>[Field]> extends Uint8Array ? never : Field;
}[FieldOf<M>];
export type PlainRow<M extends Model> = Pick<Row<M>, PlainField<M>>;

/** The names of the fields that are no bytes, in the model's order. */
export function plainFields<M extends Model>(model: M): readonly PlainField<M>[] {
  return plainColumns(model).map(({ field }) => field as PlainField<M>);
}

/** The types of the columns that a statement reads by `{Model alias}`, of a model without lists. */
export function columnTypes<M extends Model>(model: M): { [Field in PlainField<M>]: TypeOf<Row<M>[Field]> } {
  const types = plainColumns(model).map(({ field, type, optional }) => [field, optional ? `${type}?` : type]);
  return Object.fromEntries(types) as { [Field in PlainField<M>]: TypeOf<Row<M>[Field]> };
}

/** Prisma's `select` of these fields. */
export function selection<const Field extends string>(fields: readonly Field[]): { [F in Field]: true } {
  return Object.fromEntries(fields.map((field) => [field, true])) as { [F in Field]: true };
}
