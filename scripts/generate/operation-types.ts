import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { codegen } from '@graphql-codegen/core';
import * as typescriptOperations from '@graphql-codegen/typescript-operations';
import { type DefinitionNode, isScalarType, isSpecifiedScalarType, Kind, parse, printSchema } from 'graphql';
import * as operations from '../../src/pages/dashboard/client/data/operations.ts';
import { schema } from '../../src/schema/index.ts';
import type { GeneratedFiles } from './generated-files.ts';

const root = join(import.meta.dirname, '../..');
const file = 'pages/operation-types.ts';

/** The TypeScript type of each scalar. */
const scalars = Object.fromEntries([
  ['ID', 'string'],
  ...Object.values(schema.getTypeMap())
    .filter((type) => isScalarType(type) && !isSpecifiedScalarType(type))
    .map(({ name, extensions }) => [name, extensions.codegenScalarType]),
]);

/** Each definition once: operations repeat the fragments that they share. */
function definitions(): DefinitionNode[] {
  const found = new Map<string, DefinitionNode>();
  for (const { definitions } of Object.values(operations).map((text) => parse(text)))
    for (const definition of definitions) if ('name' in definition) found.set(definition.name!.value, definition);
  return [...found.values()];
}

/** The types of the dashboard's operations, made of the operations and the graph. */
export async function operationTypes(): Promise<GeneratedFiles> {
  const types = await codegen({
    schema: parse(printSchema(schema)),
    documents: [{ location: 'operations.ts', document: { kind: Kind.DOCUMENT, definitions: definitions() } }],
    filename: file,
    config: {
      scalars,
      skipTypename: true,
      omitOperationSuffix: true,
      disableDescriptions: true,
      enumType: 'string-literal',
      inlineFragmentTypes: 'combine',
    },
    plugins: [{ typescriptOperations: {} }],
    pluginMap: { typescriptOperations },
  });
  const biome = join(root, 'node_modules/.bin/biome');
  const formatted = spawnSync(biome, ['format', '--stdin-file-path=operation-types.ts'], {
    cwd: root,
    input: `// Made by \`npm run generate\` of operations.ts and the graph. Do not edit.\n${types}`,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  if (formatted.status !== 0) throw new Error(formatted.stderr);
  return new Map([[file, Buffer.from(formatted.stdout)]]);
}
