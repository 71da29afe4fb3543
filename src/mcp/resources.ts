import { existsSync, readFileSync } from 'node:fs';
import { type GraphQLSchema, printSchema } from 'graphql';
import type { JsonSchema } from '../rest/contract/json-schema.ts';

/** A resource, as listed to clients, and its text. */
export interface Resource {
  uri: string;
  name: string;
  title: string;
  description: string;
  mimeType: string;
  text: () => string;
}

const methodology = new URL('../../docs/methodology.md', import.meta.url);

/** The file of the methodology; null if the docs are not installed beside the program. */
export const methodologyPath = existsSync(methodology) ? methodology : null;

/** Readable resources: the graph with its units, and the methodology (if the docs are installed beside the program). */
export function resourcesOf(schema: GraphQLSchema, description: JsonSchema): Resource[] {
  let printed: string | null = null;
  return [
    {
      uri: 'tapegraph://schema.graphql',
      name: 'schema.graphql',
      title: 'The graph',
      description: 'Every type and field of the graph, with units and what null means. For the tool graphql.',
      mimeType: 'application/graphql',
      text: () => {
        printed ??= printSchema(schema);
        return printed;
      },
    },
    {
      uri: 'tapegraph://openapi.json',
      name: 'openapi.json',
      title: 'The routes',
      description: 'Every field of the answers of the tools, with types, units and what null means.',
      mimeType: 'application/json',
      text: () => JSON.stringify(description),
    },
    ...(methodologyPath
      ? [
          {
            uri: 'tapegraph://methodology.md',
            name: 'methodology.md',
            title: 'Methodology',
            description: 'Definitions of every figure, with formulas and conventions.',
            mimeType: 'text/markdown',
            text: () => readFileSync(methodologyPath, 'utf8'),
          },
        ]
      : []),
  ];
}
