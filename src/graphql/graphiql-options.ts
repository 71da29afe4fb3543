import type { GraphiQLOptions } from 'graphql-yoga';
import { exampleTabs } from './examples.ts';

/**
 * What GraphiQL starts with: the example questions, and before them the operation that the address holds, if it holds
 * one.
 */
export function graphiqlOptions(address: string, nowMs: number): GraphiQLOptions {
  const linked = new URL(address, 'http://localhost').searchParams;
  const query = linked.get('query');
  const variables = linked.get('variables');
  return {
    title: 'GraphiQL · Tapegraph',
    defaultTabs: [
      ...(query === null ? [] : [{ query, ...(variables === null ? {} : { variables }) }]),
      ...exampleTabs(nowMs),
    ],
    shouldPersistHeaders: false,
    credentials: 'omit',
  };
}
