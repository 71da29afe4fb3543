/** Files of a folder with routes of every shape. */
export const folder: Record<string, string> = {
  // A page with metadata of its own: the envelope's.
  'gamma-day.graphql': `# Dealer gamma of a session,
# for the morning call.
query ($symbol: Ticker!, $date: SessionDate!) {
  symbol(symbol: $symbol) { gex { history(date: $date) { symbol captures { captured_at: capturedAt net_gex: netGex } } } }
}`,
  'gamma-day.json': JSON.stringify({ path: '/desk/{symbol}/gamma', data: 'symbol.gex.history' }, null, 2),
  // Rows that have edges to other data, of which none is selected.
  'gamma-strikes.graphql': `query ($symbol: Ticker!, $date: SessionDate!) {
  symbol(symbol: $symbol) { gex { history(date: $date) { captures { captured_at: capturedAt strikes { strike gex } } } } } }`,
  'gamma-ages.graphql': `query ($symbol: Ticker!, $date: SessionDate!) {
  symbol(symbol: $symbol) { gex { history(date: $date) { captures { ...Times } } } } }
fragment Times on GexCapture { capturedAt old: age }`,
  'gamma-ages.json': JSON.stringify({ path: '/desk/{symbol}/ages', data: 'symbol.gex.history' }),
  'gamma-strikes.json': JSON.stringify({ path: '/desk/{symbol}/strikes', data: 'symbol.gex.history' }),
  // The list beside the metadata.
  'prices.graphql':
    'query Prices($symbols: [Ticker!]!) { quotes(symbols: $symbols) { rows { symbol spot } meta { count } } }',
  'prices.json': JSON.stringify({ data: 'quotes.rows', summary: 'Prices of the desk' }),
  // Without settings: the whole result is the data.
  'two-symbols.graphql': `{ spy: symbol(symbol: "SPY") { spot { price } } aapl: symbol(symbol: "AAPL") { spot { price } } }`,
  // Fragments on the type itself, on an interface, and spread twice.
  'fragments.graphql': `query ($symbol: Ticker!) { symbol(symbol: $symbol) { ...Named ...Priced } }
fragment Named on Symbol { name class }
fragment Priced on Symbol { name spot { ...Spot } }
fragment Spot on Spot { price ts }`,
  'fragments.json': JSON.stringify({ data: 'symbol' }),
  'nodes.graphql': `query ($id: ID!) { node(id: $id) { id __typename ... on Symbol { symbol name } } }`,
  'nodes.json': JSON.stringify({ path: '/nodes/{id}', data: 'node' }),
  // A value alone.
  'last-price.graphql': 'query ($symbol: Ticker!) { symbol(symbol: $symbol) { spot { price } } }',
  'last-price.json': JSON.stringify({ path: '/desk/{symbol}/last', data: 'symbol.spot.price' }),
  // Conditions, defaults and enums.
  'listed.graphql': `query ($class: SymbolClass = equity, $names: Boolean = false) {
  registry(class: $class) { rows { symbol name @include(if: $names) } meta { count } } }`,
  'listed.json': JSON.stringify({ data: 'registry.rows' }),
  // Other names and types of parameters.
  'large.graphql': `query ($symbol: Ticker, $minPremiumUsd: Float) {
  largeTrades(symbol: $symbol, minPremiumUsd: $minPremiumUsd) { events { symbol seq event: coverage { __typename } } } }`,
  'large.json': JSON.stringify({
    data: 'largeTrades.events',
    tier: 'pro',
    parameters: {
      ticker: { variable: 'symbol', description: 'The underlying.' },
      min: { variable: 'minPremiumUsd', type: 'dollars', example: 250000 },
    },
  }),
  // An input object, in the query and in a body.
  'cheap.graphql':
    'query ($where: ScreenInput! = {}, $first: Int! = 5) { screener(where: $where, first: $first) { rows { symbol } } }',
  'cheap.json': JSON.stringify({ data: 'screener.rows' }),
  'cheap-posted.graphql': 'query ($where: ScreenInput!) { screener(where: $where, first: 5) { rows { symbol } } }',
  'cheap-posted.json': JSON.stringify({ method: 'POST', path: '/own/cheap', data: 'screener.rows' }),
  // Changes.
  'keep-list.graphql': `mutation ($id: ID!, $name: String!, $symbols: [Ticker!]!) {
  putWatchlist(id: $id, name: $name, symbols: $symbols) { watchlist { id symbols: tickers } } }`,
  'keep-list.json': JSON.stringify({ method: 'PUT', path: '/lists/{id}', data: 'putWatchlist.watchlist' }),
  'drop-list.graphql': 'mutation ($id: ID!) { deleteWatchlist(id: $id) { deleted } }',
  'drop-list.json': JSON.stringify({ method: 'DELETE', path: '/lists/{id}', data: 'deleteWatchlist' }),
  // The account's own lists.
  'lists.graphql': '{ watchlists { rows { id symbols: tickers } meta { count } } }',
  'lists.json': JSON.stringify({ path: '/lists', data: 'watchlists.rows' }),
  // An instant of its own, and answers that are never cached.
  'then.graphql': `query ($at: PointInTime, $symbol: Ticker!) { asOf(at: $at) { symbol(symbol: $symbol) { spot { price } } } }`,
  'then.json': JSON.stringify({ data: 'asOf.symbol.spot' }),
  'unsealed.graphql': `query ($symbol: Ticker!, $date: SessionDate!) {
  symbol(symbol: $symbol) { gex { history(date: $date) { captures { netGex } } } } }`,
  'unsealed.json': JSON.stringify({ data: 'symbol.gex.history', cache: 'none' }),
  // A stream.
  'quote-stream.graphql': 'subscription ($symbols: [Ticker!]!) { quotes(symbols: $symbols) { symbol spot } }',
  // Many names, and one field under many aliases.
  'aliases.graphql': `{ ${Array.from({ length: 20 }, (_, i) => `s${i}: symbol(symbol: "SPY") { name }`).join(' ')} }`,
  'long-list.graphql': 'query ($symbols: [Ticker!]!) { quotes(symbols: $symbols) { rows { symbol } } }',
};
