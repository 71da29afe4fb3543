import type { Prisma } from '../../../../generated/store/client.ts';
import { tables } from '../../../../generated/store/tables.ts';

/** A model's name in `schema.prisma`. */
export type Model = Prisma.ModelName;

/** A field of a model and its column. */
export interface TableField {
  field: string;
  column: string;
  type: 'text' | 'bool' | 'int4' | 'int8' | 'float8' | 'bytea' | 'jsonb';
  list: boolean;
  optional: boolean;
}

/** A key or an index of a table. */
export interface TableIndex {
  kind: 'id' | 'unique' | 'index';
  columns: readonly { column: string; descending: boolean }[];
}

/** A model's table. */
export interface ModelTable {
  table: string;
  fields: readonly TableField[];
  indexes: readonly TableIndex[];
}

const models: Readonly<Record<Model, ModelTable>> = tables;

/** Every model. */
export const allModels = Object.keys(models) as readonly Model[];

/** The table of a model. */
export function tableOf(model: Model): ModelTable {
  return models[model];
}

/** The columns of a model that are no bytes. */
export function plainColumns(model: Model): readonly TableField[] {
  return tableOf(model).fields.filter(({ type }) => type !== 'bytea');
}
