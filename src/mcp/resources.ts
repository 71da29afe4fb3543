import { existsSync, readFileSync } from 'node:fs';
import { type GraphQLSchema, printSchema } from 'graphql';

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

/** What there is to read: the graph with its units, and how every figure is computed (where the docs are installed beside the program). */
export function resourcesOf(schema: GraphQLSchema): Resource[] {
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
    ...(existsSync(methodology)
      ? [
          {
            uri: 'tapegraph://methodology.md',
            name: 'methodology.md',
            title: 'Methodology',
            description: 'How every figure is computed, with formulas and conventions.',
            mimeType: 'text/markdown',
            text: () => readFileSync(methodology, 'utf8'),
          },
        ]
      : []),
  ];
}
