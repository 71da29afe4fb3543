import { exampleCount } from '../graphql/examples.ts';

/** A page or endpoint of this server that the pages link to. */
interface SiteLink {
  /** Its address. */
  to: string;
  name: string;
  /** A short description. */
  what: string;
  /** True if it is also in the header of every page. */
  inHeader?: true;
}

/** The links on `/`, in order. */
export const siteLinks: readonly SiteLink[] = [
  {
    to: '/graphql',
    name: 'GraphiQL',
    what: `Explore and query the graph: ${exampleCount} examples, every field with its unit.`,
    inHeader: true,
  },
  {
    to: '/dashboard',
    name: 'Dashboard',
    what: 'A symbol at a glance, live: price, dealer gamma, option flow, volatility, off-exchange trading.',
    inHeader: true,
  },
  {
    to: '/docs',
    name: 'API reference',
    what: 'Every REST route with its parameters, example answers, errors and GraphQL operation.',
    inHeader: true,
  },
  {
    to: '/docs/key',
    name: 'Guides',
    what: 'Getting a key, rates and budgets, paging and caching, the changelog.',
  },
  {
    to: '/docs#stream',
    name: 'Live streams',
    what: 'Live quotes, bars, dealer gamma and option flow: server-sent events, GraphQL subscriptions, WebSockets.',
  },
  {
    to: '/docs#mcp',
    name: 'AI clients',
    what: 'The routes as tools of the Model Context Protocol at /mcp, called with your own key.',
  },
  {
    to: '/v2/openapi.json',
    name: 'OpenAPI 3.1',
    what: 'A machine-readable description of the routes, for code generators, validators and API clients.',
  },
  {
    to: '/asyncapi.json',
    name: 'AsyncAPI 3.0',
    what: 'A machine-readable description of the live streams; the graph is in /schema.graphql, an index for language models in /llms.txt.',
  },
  {
    to: '/v2/rest-protocol.proto',
    name: 'Protobuf',
    what: 'Messages of the routes that support application/x-protobuf.',
  },
  { to: '/healthz', name: 'Health', what: 'Liveness at /healthz, readiness at /readyz.' },
];

/** Address of GraphiQL with an operation and its variables filled in. */
export function graphiqlLink(query: string, variables?: Record<string, unknown>): string {
  const given = variables && Object.keys(variables).length > 0 ? { variables: JSON.stringify(variables, null, 2) } : {};
  return `/graphql?${new URLSearchParams({ query, ...given })}`;
}
