/** A place of this server that the pages lead to. */
interface Place {
  /** Its address. */
  to: string;
  name: string;
  /** What is found there. */
  what: string;
  /** Every page's header leads there too. */
  inHeader?: true;
}

/** Where `/` leads to, in its order. */
export const places: readonly Place[] = [
  {
    to: '/graphql',
    name: 'GraphiQL',
    what: 'The graph, to explore and query by hand: ten example questions, every field with its unit.',
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
    what: 'Every REST route with its parameters, real answers, errors, and the GraphQL operation it is.',
    inHeader: true,
  },
  {
    to: '/docs#stream',
    name: 'Live streams',
    what: 'Quotes, bars, dealer gamma and option flow as they change: server-sent events, and GraphQL subscriptions.',
  },
  {
    to: '/docs#mcp',
    name: 'AI clients',
    what: 'The routes as tools of the Model Context Protocol, at /mcp, under your own key.',
  },
  {
    to: '/v2/openapi.json',
    name: 'OpenAPI 3.1',
    what: 'The routes for programs: generators, validators, API clients.',
  },
  {
    to: '/v2/rest-protocol.proto',
    name: 'Protobuf',
    what: 'Messages of the routes that also answer application/x-protobuf.',
  },
  { to: '/healthz', name: 'Health', what: 'Alive at /healthz; ready to take requests at /readyz.' },
];
