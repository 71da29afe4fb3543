/** What clients notice of a release. */
export interface Change {
  /** Date of the release, YYYY-MM-DD. */
  date: string;
  /** The methodology version that begins with it; null = the same as before. */
  methodology: string | null;
  /** What can be done that could not be before. Words between backticks are code. */
  added: readonly string[];
  /** What is answered otherwise than before. */
  changed: readonly string[];
}

/** The changes of the published contract, the latest first: all that `/docs/changelog` shows. */
export const changes: readonly Change[] = [
  {
    date: '2026-11-22',
    methodology: '2',
    added: [
      '`POST /v2/stream/ticket` and `/v2/ws`: a WebSocket with JSON control messages and protobuf frames.',
      '`/graphql` speaks `graphql-transport-ws`, for queries, mutations and subscriptions.',
      '`chainCaptured`: a subscription to the captures of a chain.',
      '`symbol.lastSession` of the graph: the last session with a daily bar, however long ago.',
      'Objects of the graph have global ids, by which `node` and `nodes` read them again.',
      '`symbol.flow.largeTrades` of the graph filters by `kind`, `side`, `right` and `expiry`, has a `cursor`, and says in `meta.total` how many there are.',
      'CSV, Arrow and protobuf pages name the next page in `Link: <…>; rel="next"`.',
      'Answers to site sessions have the rate headers too.',
      'OpenAPI has named schemas, response headers, the public paths, and examples that work when they are sent.',
    ],
    changed: [
      'Options are priced at the spot that their own quotes imply, with forwards and yields of each expiry. A GEX capture says whose volatilities it shows, and names its `methodologyVersion`.',
      'The chain says in `meta.greeks_source` whose volatilities and greeks its rows show: `vendor` or `solved`.',
      'Auction prints have a side. A print that arrives late is compared with the quote of its own time.',
      'With `Accept: application/graphql-response+json`, answers without `data` have a 4xx or 5xx status.',
      'A GraphQL document that costs more than the whole minute is 400, not 429.',
      'Every answer has `Vary: Accept, Accept-Encoding, Authorization, X-API-Key`; `/graphql` and `/mcp` are `no-store`.',
      'AI clients: a list that is cut keeps the newest of a series, the strikes nearest to the spot and the largest of a ranking. Tools that a key cannot use are not offered to it.',
    ],
  },
  {
    date: '2026-11-20',
    methodology: '1',
    added: ['The first published contract: the routes below `/v2`, the graph, `/v2/stream` and `/mcp`.'],
    changed: [],
  },
];
