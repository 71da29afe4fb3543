// A generator of `prisma generate` (prisma/schema.prisma): writes the models' tables, columns, types and indexes as
// data, since the client keeps only names of them. Prisma starts it and speaks JSON-RPC: requests are lines of standard
// input, answers lines of standard error.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import type { DMMF } from '@prisma/client/runtime/client';
import type { ModelTable, TableField, TableIndex } from '../../src/store/rows/models/model-tables.ts';

const sqlTypes: Readonly<Record<string, TableField['type']>> = {
  String: 'text',
  Boolean: 'bool',
  Int: 'int4',
  BigInt: 'int8',
  Float: 'float8',
  Bytes: 'bytea',
  Json: 'jsonb',
};

function fieldOf(model: string, { name, dbName, type, isList, isRequired }: DMMF.Field): TableField {
  const sqlType = sqlTypes[type];
  if (!sqlType) throw new Error(`${model}.${name}: ${type} is none of ${Object.keys(sqlTypes).join(', ')}.`);
  return { field: name, column: dbName ?? name, type: sqlType, list: isList, optional: !isRequired };
}

/** The tables of the models, by the models' names. Throws at a column whose type sets and COPY cannot write. */
export function tablesOf({ models, indexes }: DMMF.Datamodel): Record<string, ModelTable> {
  return Object.fromEntries(
    models.map(({ name, dbName, fields: all }) => {
      // A relation is no column: its keys are.
      const fields = all.filter(({ kind }) => kind !== 'object').map((field) => fieldOf(name, field));
      const columnOf = (of: string) => fields.find(({ field }) => field === of)!.column;
      const own = indexes.filter(({ model }) => model === name);
      return [
        name,
        {
          table: dbName ?? name,
          fields,
          indexes: own.map(
            (index): TableIndex => ({
              kind: index.type === 'normal' ? 'index' : (index.type as 'id' | 'unique'),
              columns: index.fields.map((each) => ({
                column: columnOf(each.name),
                descending: each.sortOrder === 'desc',
              })),
            }),
          ),
        },
      ];
    }),
  );
}

/** The module with the tables. */
function moduleOf(tables: Record<string, ModelTable>): string {
  const entries = Object.entries(tables).map(([model, { table, fields, indexes }]) => {
    const lines = (list: readonly object[]) => list.map((each) => `      ${JSON.stringify(each)},\n`).join('');
    return `  ${model}: {\n    table: ${JSON.stringify(table)},\n    fields: [\n${lines(fields)}    ],\n    indexes: [\n${lines(indexes)}    ],\n  },\n`;
  });
  return `// Made of prisma/schema.prisma by scripts/generate/store-tables.ts.\nexport const tables = {\n${entries.join('')}} as const;\n`;
}

interface Request {
  id: number;
  method: string;
  params: { generator: { output: { value: string } }; dmmf: DMMF.Document };
}

function answer({ method, params }: Request): unknown {
  if (method === 'getManifest') return { manifest: { prettyName: 'the tables', defaultOutput: '.' } };
  const path = params.generator.output.value;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, moduleOf(tablesOf(params.dmmf.datamodel)));
  return null;
}

if (import.meta.main) {
  for await (const line of createInterface(process.stdin)) {
    const request: Request = JSON.parse(line);
    let answered: object;
    try {
      answered = { result: answer(request) };
    } catch (error) {
      answered = { error: { code: 0, message: (error as Error).message, data: {} } };
    }
    process.stderr.write(`${JSON.stringify({ jsonrpc: '2.0', id: request.id, ...answered })}\n`);
  }
}
