/** What clients notice of a release. */
export interface Change {
  /** Date of the release, YYYY-MM-DD. */
  date: string;
  /** The methodology version that begins with it; null = the same as before. */
  methodology: string | null;
  /** New features. Words between backticks are code. */
  added: readonly string[];
  /** Changed answers. */
  changed: readonly string[];
}

/** The changes of the published contract, the latest first: everything that `/docs/changelog` shows. */
export const changes: readonly Change[] = [
  {
    date: '2026-11-22',
    methodology: '2',
    added: [
      '`POST /v2/stream/ticket` and `/v2/ws`: a WebSocket with JSON control messages and protobuf frames.',
      '`/graphql` supports `graphql-transport-ws`, for queries, mutations and subscriptions.',
      '`chainCaptured`: a subscription to the captures of a chain.',
      '`symbol.lastSession` of the graph: the last session with a daily bar, however long ago.',
      'Objects of the graph have global ids; `node` and `nodes` read objects by id.',
      '`symbol.flow.largeTrades` of the graph filters by `kind`, `side`, `right` and `expiry`, has a `cursor`, and reports the total number in `meta.total`.',
      'CSV, Arrow and protobuf pages name the next page in `Link: <…>; rel="next"`.',
      'Answers to site sessions also have the rate headers.',
      'OpenAPI has named schemas, response headers, the public paths, and examples that work if they are sent.',
    ],
    changed: [
      'If spot and option quotes disagree, options are priced at the spot that the quotes imply, with a forward and a yield per expiry. A GEX capture reports whose volatilities it uses, and its `methodologyVersion`.',
      'The chain reports in `meta.greeks_source` whose volatilities and greeks its rows show: `vendor` or `solved`.',
      'Auction prints have a side. The side of a late print is inferred from the quote of its own time.',
      'With `Accept: application/graphql-response+json`, answers without `data` have a 4xx or 5xx status.',
      'A GraphQL document that costs more than the budget of a whole minute returns 400, not 429.',
      'Every answer has `Vary: Accept, Accept-Encoding, Authorization, X-API-Key`; `/graphql` and `/mcp` are `no-store`.',
      'AI clients: a truncated list contains the newest items of a series, the strikes nearest to the spot, or the highest ranks. Tools that a key cannot use are not listed.',
    ],
  },
  {
    date: '2026-11-20',
    methodology: '1',
    added: ['The first published contract: the routes below `/v2`, the graph, `/v2/stream` and `/mcp`.'],
    changed: [],
  },
];
