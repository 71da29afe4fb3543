import type { CompiledRoute } from '../rest/contract/compiled-route.ts';
import { ownTag, tags } from '../rest/openapi/tags.ts';
import { guides } from './reference/guides/guides.ts';

const link = (name: string, address: string, text: string) => `- [${name}](${address}): ${text}`;

/** The first sentence of a description. */
const firstSentence = (text: string) => /^.*?[.!?](?=\s|$)/s.exec(text)?.[0] ?? text;

function routesOf(compiled: readonly CompiledRoute[], group: string): string[] {
  return compiled
    .filter(({ route }) => route.scopeGroup === group && route.sunset === undefined)
    .map(({ route }) => link(`${route.method} ${route.path}`, `/docs#${route.name}`, route.summary));
}

/** `/llms.txt`: an index of the documentation for language models, in the form of llmstxt.org. */
export function llmsText(compiled: readonly CompiledRoute[]): string {
  return [
    '# Tapegraph',
    '',
    '> Market data and analytics: quotes, bars, option chains, greeks, dealer gamma (GEX), option flow, off-exchange activity. One GraphQL graph, and REST routes that are stored operations of it.',
    '',
    'Send an API key as `Authorization: Bearer <key>`. Prices are dollars, times are epoch milliseconds (UTC), sessions are New York dates, strikes are thousandths of a dollar. null means unknown.',
    '',
    '## Descriptions for machines',
    '',
    link('GraphQL schema', '/schema.graphql', 'every type and field, with units and what null means'),
    link('OpenAPI', '/v2/openapi.json', 'every REST route and its answers'),
    link('AsyncAPI', '/asyncapi.json', 'the live streams and their messages'),
    link('Model Context Protocol', '/docs#mcp', 'the routes as tools at /mcp; estimate says what a query costs'),
    '',
    '## Guides',
    '',
    ...guides.map(({ path, title, about }) => link(title, path, about)),
    ...[...tags, ownTag].flatMap(({ name, description }) => {
      const routes = routesOf(compiled, name);
      return routes.length === 0 ? [] : ['', `## ${name}`, '', firstSentence(description), '', ...routes];
    }),
    '',
  ].join('\n');
}
