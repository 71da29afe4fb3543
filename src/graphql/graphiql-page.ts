import { renderGraphiQL } from '@graphql-yoga/render-graphiql';
import type { GraphiQLOptions } from 'graphql-yoga';
import { exampleTabs } from './examples.ts';

/** What GraphiQL starts with: the example questions, and before them the operation that the address holds, if it holds one. */
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

/** GraphiQL, whole in one page, below what is to stand above it. */
export function graphiqlPage(above: string): (options: GraphiQLOptions) => string {
  return (options) => {
    const page = renderGraphiQL(options);
    const body = page.indexOf('>', page.indexOf('<body')) + 1;
    // The options are written into a script as they are: what an address brought could end it and begin another.
    const json = JSON.stringify(options);
    const start = page.lastIndexOf(json);
    if (start < body) throw new Error('GraphiQL was not written as it was expected to be');
    const inert = json.replaceAll('<', '\\u003c');
    return page.slice(0, body) + above + page.slice(body, start) + inert + page.slice(start + json.length);
  };
}
