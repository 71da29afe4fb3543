import { readFileSync } from 'node:fs';
import type { Prisma } from '../../../../generated/store/client.ts';

/** A model's name in `schema.prisma`. */
export type Model = Prisma.ModelName;

const sqlTypes = {
  String: 'text',
  Boolean: 'bool',
  Int: 'int4',
  BigInt: 'int8',
  Float: 'float8',
  Bytes: 'bytea',
  Json: 'jsonb',
} as const;

/** A field of a model and its column. */
export interface TableField {
  field: string;
  column: string;
  type: (typeof sqlTypes)[keyof typeof sqlTypes];
  list: boolean;
  optional: boolean;
}

/** A key or an index of a table. */
export interface TableIndex {
  kind: 'id' | 'unique' | 'index';
  columns: { column: string; descending: boolean }[];
}

/** A model's table. */
export interface ModelTable {
  table: string;
  fields: readonly TableField[];
  indexes: readonly TableIndex[];
}

function readField(line: string): (TableField & { kinds: TableIndex['kind'][] }) | null {
  const found = /^(\w+)\s+(\w+)(\[\]|\?)?((?:\s+@\w+(?:\("\w+"\))?)*)$/.exec(line);
  const type = found && sqlTypes[found[2] as keyof typeof sqlTypes];
  if (!found || !type) return null;
  const [, field, , shape, attributes] = found;
  const column = /@map\("(\w+)"\)/.exec(attributes!)?.[1] ?? field!;
  const kinds = (['id', 'unique'] as const).filter((kind) => new RegExp(`@${kind}\\b`).test(attributes!));
  return { field: field!, column, type, list: shape === '[]', optional: shape === '?', kinds };
}

function readIndex(line: string, fields: readonly TableField[]): TableIndex | null {
  const [, kind, names] = /^@@(id|index|unique)\(\[(.*)\]\)$/.exec(line) ?? [];
  if (!names) return null;
  const columns = names.split(', ').map((each) => {
    const [, name, descending] = /^(\w+)(\(sort: Desc\))?$/.exec(each) ?? [];
    const { column } = fields.find(({ field }) => field === name)!;
    return { column, descending: descending !== undefined };
  });
  return { kind: kind as TableIndex['kind'], columns };
}

/** Reads the part of Prisma's language that the schema uses. Throws at a line it does not understand. */
export function readModels(schema: string): Map<string, ModelTable> {
  const models = new Map<string, ModelTable>();
  for (const [, model, body] of schema.matchAll(/^model (\w+) \{\n(.*?)^\}/gms)) {
    const fields: TableField[] = [];
    const indexes: TableIndex[] = [];
    let table = model!;
    for (const line of body!.split('\n').map((each) => each.replace(/\/\/.*$/, '').trim())) {
      const field = readField(line);
      const index = readIndex(line, fields);
      const mapped = /^@@map\("(\w+)"\)$/.exec(line);
      if (mapped) table = mapped[1]!;
      else if (index) indexes.push(index);
      else if (field) {
        const { kinds, ...rest } = field;
        fields.push(rest);
        for (const kind of kinds) indexes.push({ kind, columns: [{ column: rest.column, descending: false }] });
      } else if (line !== '') throw new Error(`schema.prisma, model ${model}: not understood: ${line}`);
    }
    models.set(model!, { table, fields, indexes });
  }
  return models;
}

const models = readModels(readFileSync(new URL('../../../../prisma/schema.prisma', import.meta.url), 'utf8'));

/** The table of a model. */
export function tableOf(model: Model): ModelTable {
  return models.get(model)!;
}
