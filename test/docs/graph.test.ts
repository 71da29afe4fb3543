import { readFileSync } from 'node:fs';
import { codegen } from '@graphql-codegen/core';
import * as typescriptOperations from '@graphql-codegen/typescript-operations';
import { isScalarType, isSpecifiedScalarType, parse, printSchema } from 'graphql';
import { describe, expect, test } from 'vitest';
import { compiledRoutes } from '../../src/rest/routes.ts';
import { schema } from '../../src/schema/index.ts';

const text = readFileSync('docs/graph.md', 'utf8');
const scalars: Record<string, string> = JSON.parse(/```json\n([\s\S]*?)```/.exec(text)![1]!);
const own = Object.values(schema.getTypeMap()).filter((type) => isScalarType(type) && !isSpecifiedScalarType(type));

/** The types that a client gets for the operations of all routes. */
function typesWith(given: Record<string, string>): Promise<string> {
  return codegen({
    schema: parse(printSchema(schema)),
    documents: compiledRoutes.map(({ operation: { document } }, index) => ({
      location: `${index}.graphql`,
      // Operations that several routes share have one name.
      document: {
        ...document,
        definitions: document.definitions.map((each) => ({ ...each, name: { kind: 'Name', value: `Q${index}` } })),
      } as typeof document,
    })),
    filename: 'types.ts',
    config: { scalars: given, strictScalars: true, disableDescriptions: true },
    plugins: [{ typescriptOperations: {} }],
    pluginMap: { typescriptOperations },
  });
}

describe('docs/graph.md', () => {
  test('names the TypeScript type of every scalar', () => {
    expect(scalars).toEqual({
      ID: 'string',
      ...Object.fromEntries(own.map(({ name, extensions }) => [name, extensions.codegenScalarType])),
    });
  });

  test('gives code generators all they need: no type is any or unknown', async () => {
    const types = await typesWith(scalars);
    const used = types.split('\n').filter((line) => /\b(any|unknown)\b/.test(line.replaceAll(/'[^']*'/g, '')));
    expect(types).toContain('ts_ms: number');
    // A helper type of the generator's.
    expect(used.filter((line) => !/^type Exact/.test(line))).toEqual([]);
  });

  test('would miss a scalar that is not in the list', async () => {
    const { Ticker: _, ...others } = scalars;
    await expect(typesWith(others)).rejects.toThrow('Ticker');
  });
});
