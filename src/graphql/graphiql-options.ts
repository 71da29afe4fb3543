import type { GraphiQLOptions } from 'graphql-yoga';
import { examplesAt } from './examples.ts';

/** GraphiQL's initial operation: the one in the address, else the first example. */
export function graphiqlOptions(address: string, nowMs: number): GraphiQLOptions {
  const linked = new URL(address, 'http://localhost').searchParams;
  const query = linked.get('query');
  const variables = linked.get('variables');
  const [first] = examplesAt(nowMs);
  return {
    title: 'GraphiQL · Tapegraph',
    defaultTabs: [query === null ? { query: first!.query } : { query, ...(variables === null ? {} : { variables }) }],
    shouldPersistHeaders: false,
    credentials: 'omit',
  };
}
