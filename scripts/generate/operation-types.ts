import { codegen } from '@graphql-codegen/core';
import * as typescriptOperations from '@graphql-codegen/typescript-operations';
import { type DefinitionNode, isScalarType, isSpecifiedScalarType, Kind, parse, printSchema } from 'graphql';
import * as operations from '../../src/pages/dashboard/client/data/operations.ts';
import { schema } from '../../src/schema/index.ts';
import { formatted } from './formatted.ts';
import type { GeneratedFiles } from './generated-files.ts';

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
  const header = '// Made by `npm run generate` of operations.ts and the graph. Do not edit.\n';
  return new Map([[file, formatted(header + types)]]);
}
