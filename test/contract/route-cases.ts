// What the contract suites know of each route: how to ask it, the same over GraphQL, and the rule that guards it.
import type { Route } from '../../src/rest/contract/route.ts';
import { routes } from '../../src/rest/routes.ts';
import { putWatchlist } from '../../src/store/account/watchlists.ts';
import { insertJournalAccount } from '../../src/store/journal/accounts.ts';
import { insertJournalTrade } from '../../src/store/journal/trades.ts';
import type { TestApp } from '../support/app.ts';

/** What decides whether a caller is served, as contract-notes 1 and 2 state it. */
export interface Needs {
  /** What the caller must have whatever the symbol; looked at first. */
  feature?: 'flow' | 'off-exchange' | 'site-session' | 'declared-site-session';
  /**
   * What the symbol decides. `none`: there is none, or it does not matter. `entry`: it must be registered.
   * `registered`: it must be registered and readable. `known`: it must be a real ticker and readable. `readable`:
   * readable, if it is one at all. `row`: never a failure, an empty row when not readable. `writable`: a 400 unless
   * registered and readable.
   */
  symbol: 'none' | 'entry' | 'registered' | 'known' | 'readable' | 'row' | 'writable';
  /** The route answers `token_expired`. */
  listsTokenExpired?: boolean;
}

/** A request that changes something: what it sends. */
export interface Sent {
  body?: string;
  contentType?: string;
}

/** What is known of one route. `{symbol}`, `{contract}` and `{id}` stand for what the request is about. */
export interface RouteCase extends Sent {
  /** Path and query of a request that a pro, attested caller is answered 200. */
  path: string;
  /** The equivalent operation of the graph, written by hand. */
  graphql: string;
  needs: Needs;
  /** Makes what the request is about, and returns its id. */
  prepare?: (app: TestApp, accountId: string) => Promise<string>;
  /** Makes one that the request is refused for with 400, and returns its id. */
  refused?: (app: TestApp, accountId: string) => Promise<string>;
  /** The request changes what the account may do. */
  changesAccount?: true;
  /** Texts its parameters are tried with, beside `paramTexts`. */
  texts?: Record<string, readonly string[]>;
  /** Bodies it is tried with besides. */
  bodies?: readonly Sent[];
}

const window = 'from=2026-11-30&to=2026-12-01';
const listBody = { body: '{"name":"Mine","symbols":["{symbol}"]}' };
let ids = 0;
const nextId = () => `id-${++ids}`;

async function storedList(app: TestApp, accountId: string): Promise<string> {
  const id = nextId();
  await putWatchlist(app.store, accountId, { id, name: 'One', symbols: ['SPY'] }, app.clock.nowMs);
  return id;
}

const trade = '{ accountId: "main", symbol: "SPY", side: "buy", qty: 1, price: 600.5 }';

async function journalAccount(app: TestApp, accountId: string): Promise<string> {
  const id = nextId();
  await insertJournalAccount(
    app.store,
    { accountId, maxRows: 1000 },
    { id, name: 'One', broker: 'B' },
    app.clock.nowMs,
  );
  return id;
}

async function journalTrade(app: TestApp, accountId: string): Promise<string> {
  const id = nextId();
  const row = { id, journalAccountId: 'main', symbol: 'SPY', side: 'buy', qty: 1, price: 2, tsMs: 0, note: null };
  await insertJournalTrade(app.store, { accountId, maxRows: 1000 }, row, app.clock.nowMs);
  return id;
}

const offExchange = (table: string): RouteCase => ({
  path: `/v2/offexchange/{symbol}/${table}`,
  graphql: `{ symbol(symbol: "{symbol}") { offExchange { ${table} { rows { date } meta { count } } } } }`,
  needs: { feature: 'off-exchange', symbol: 'known' },
  texts: { limit: ['1', '3', '7', '5000', '99999999'] },
});

/** By method and path of the route table. */
export const routeCases: Record<string, RouteCase> = {
  'GET /v2/symbols': {
    path: '/v2/symbols',
    graphql: '{ registry { rows { symbol } } }',
    needs: { symbol: 'none' },
  },
  'GET /v2/symbols/lookup': {
    path: '/v2/symbols/lookup?q={symbol}',
    graphql: '{ lookup(q: "{symbol}") { valid } }',
    needs: { symbol: 'none' },
  },
  'GET /v2/symbols/:symbol': {
    path: '/v2/symbols/{symbol}',
    graphql: '{ symbol(symbol: "{symbol}") { minTier requiresAttestation } }',
    needs: { symbol: 'entry' },
  },
  'GET /v2/quotes': {
    path: '/v2/quotes?symbols={symbol}',
    graphql: '{ quotes(symbols: ["{symbol}"]) { rows { spot } meta { restricted } } }',
    needs: { symbol: 'row' },
  },
  'GET /v2/symbols/:symbol/spot': {
    path: '/v2/symbols/{symbol}/spot',
    graphql: '{ symbol(symbol: "{symbol}") { spot { price } } }',
    needs: { symbol: 'registered' },
  },
  'GET /v2/stocks/:symbol/bars': {
    path: `/v2/stocks/{symbol}/bars?${window}`,
    graphql:
      '{ symbol(symbol: "{symbol}") { bars(from: "2026-11-30", to: "2026-12-01") { rows { tsMs } meta { rowCount } } } }',
    needs: { symbol: 'known', listsTokenExpired: true },
    texts: {
      from: ['2026-11-25', '1764374400000', '2026-11-30T09:30', '2026-11-27T12:59:30Z', '2020-01-01', '2026-12-02'],
      to: ['2026-12-01', '1796140800000', '2026-12-01T12:00', '2026-11-30T10:00:00-05:00', '2027-01-01'],
      limit: ['1', '7', '1000', '99999999'],
      source: ['trade', 'mid', 'x'],
    },
  },
  'GET /v2/screener/sectors': {
    path: '/v2/screener/sectors',
    graphql: '{ sectors { rows { sector } } }',
    needs: { symbol: 'none' },
  },
  'GET /v2/screener/movers': {
    path: '/v2/screener/movers',
    graphql: '{ movers { rows { symbol changePct } meta { count } } }',
    needs: { symbol: 'none' },
    texts: { limit: ['1', '3', '180', '99999999'], universe: ['registry', 'everything'] },
  },
  'GET /v2/gex/:symbol/history': {
    path: '/v2/gex/{symbol}/history?date=2026-11-30&top=3',
    graphql: '{ symbol(symbol: "{symbol}") { gex { history(date: "2026-11-30", top: 3) { captures { netGex } } } } }',
    needs: { symbol: 'readable' },
    texts: { from: ['09:30', '09:35', '16:00'], to: ['09:36', '23:59', '09:30'] },
  },
  'GET /v2/gex/:symbol/grid': {
    path: '/v2/gex/{symbol}/grid',
    graphql: '{ symbol(symbol: "{symbol}") { gex { grid { netGex } } } }',
    needs: { symbol: 'readable' },
  },
  'GET /v2/gex/:symbol/reference': {
    path: '/v2/gex/{symbol}/reference?date=2026-11-30&basis=prev_close',
    graphql: '{ symbol(symbol: "{symbol}") { gex { reference(date: "2026-11-30", basis: prev_close) { netGex } } } }',
    needs: { symbol: 'readable' },
    texts: { basis: ['open', 'prev_close', 'close'] },
  },
  'GET /v2/chain/:symbol': {
    path: '/v2/chain/{symbol}',
    graphql: '{ symbol(symbol: "{symbol}") { chain { meta { rowCount } } } }',
    needs: { symbol: 'readable' },
  },
  'GET /gex/:underlying/strikes': {
    path: '/gex/{symbol}/strikes?date=2026-11-30',
    graphql: '{ symbol(symbol: "{symbol}") { gex { sessionStrikes(date: "2026-11-30") { rows { strike } } } } }',
    needs: { symbol: 'readable', listsTokenExpired: true },
  },
  'GET /v2/chain/:symbol/expirations': {
    path: '/v2/chain/{symbol}/expirations',
    graphql: '{ symbol(symbol: "{symbol}") { expirations { dates } } }',
    needs: { symbol: 'none' },
  },
  'GET /v2/account/usage': {
    path: '/v2/account/usage',
    graphql: '{ me { usage { trailingDays } } }',
    needs: { symbol: 'none' },
  },
  'GET /v2/account/classification': {
    path: '/v2/account/classification',
    graphql: '{ me { declaration { attested } } }',
    needs: { symbol: 'none' },
  },
  'POST /v2/account/classification': {
    path: '/v2/account/classification',
    body: '{"classification":"non_professional"}',
    graphql: 'mutation { classify(classification: non_professional) { declaration { attested } } }',
    needs: { symbol: 'none' },
    changesAccount: true,
    bodies: [{ body: '{"classification":"non_professional","more":1}' }, { body: '{"classification":"no"}' }],
  },
  'GET /v2/account/keys': {
    path: '/v2/account/keys',
    graphql: '{ me { keys { id } } }',
    needs: { feature: 'site-session', symbol: 'none' },
  },
  'POST /v2/account/keys': {
    path: '/v2/account/keys',
    graphql: 'mutation { createKey { created { key } } }',
    needs: { feature: 'declared-site-session', symbol: 'none' },
    bodies: [{ body: '{"name":"Laptop"}' }, { body: '{"name":null}' }, { body: '{"name":5}' }],
  },
  'POST /v2/stream/ticket': {
    path: '/v2/stream/ticket',
    graphql: 'mutation { createStreamTicket { ticket } }',
    needs: { symbol: 'none' },
  },
  'DELETE /v2/account/keys/:id': {
    path: '/v2/account/keys/{id}',
    graphql: 'mutation { revokeKey(id: "{id}") { revoked } }',
    needs: { feature: 'site-session', symbol: 'none' },
    prepare: async (app, accountId) =>
      (await app.access.keys.create({ accountId, name: null, expiresAt: null })).meta.id,
  },
  'GET /v2/flow/large-trades': {
    path: '/v2/flow/large-trades?symbol={symbol}',
    graphql: '{ largeTrades(symbol: "{symbol}") { events { seq } } }',
    needs: { feature: 'flow', symbol: 'registered' },
    texts: { limit: ['1', '7', '100', '99999999'] },
  },
  'GET /v2/flow/eod': {
    path: '/v2/flow/eod?symbol={symbol}&session=2026-11-30',
    graphql: '{ eod(symbol: "{symbol}", session: "2026-11-30") { prints { rank } } }',
    needs: { feature: 'flow', symbol: 'registered' },
  },
  'GET /v2/flow/:symbol/cross-section': {
    path: '/v2/flow/{symbol}/cross-section',
    graphql: '{ symbol(symbol: "{symbol}") { flow { crossSection { snapshot { seq } } } } }',
    needs: { feature: 'flow', symbol: 'registered' },
  },
  'GET /v2/options/:symbol/vol/term': {
    path: '/v2/options/{symbol}/vol/term',
    graphql: '{ symbol(symbol: "{symbol}") { volatility { term { expiries { atmIv } } } } }',
    needs: { symbol: 'readable' },
    texts: { symbol: ['SPY', 'spy', 'SPX', 'ZZZ', 'QQQQ', '1X'] },
  },
  'GET /v2/options/:symbol/vol/surface': {
    path: '/v2/options/{symbol}/vol/surface',
    graphql: '{ symbol(symbol: "{symbol}") { volatility { surface { points { iv } } } } }',
    needs: { symbol: 'readable' },
    texts: { symbol: ['SPY', 'spy', 'SPX', 'ZZZ', 'QQQQ', '1X'] },
  },
  'GET /v2/options/:contract/greeks': {
    path: '/v2/options/{contract}/greeks',
    graphql: '{ contract(id: "{contract}") { greeks { latest { mark } } } }',
    needs: { symbol: 'registered' },
  },
  'GET /v2/options/:contract/bars': {
    path: '/v2/options/{contract}/bars',
    graphql: '{ contract(id: "{contract}") { bars { meta { count } } } }',
    needs: { symbol: 'registered' },
    texts: { limit: ['1', '7', '2000', '99999999'], tf: ['1m', '5m'] },
  },
  'GET /v2/offexchange/:symbol/concentration': offExchange('concentration'),
  'GET /v2/offexchange/:symbol/activity': offExchange('activity'),
  'GET /v2/offexchange/:symbol/composition': offExchange('composition'),
  'GET /v2/offexchange/:symbol/profile': offExchange('profile'),
  'GET /v2/watchlists': {
    path: '/v2/watchlists',
    graphql: '{ watchlists { rows { id } } }',
    needs: { symbol: 'none' },
  },
  'PUT /v2/watchlists/:id': {
    path: '/v2/watchlists/mine',
    ...listBody,
    graphql: 'mutation { putWatchlist(id: "mine", name: "Mine", symbols: ["{symbol}"]) { watchlist { id } } }',
    needs: { symbol: 'writable' },
    bodies: [
      { body: '{"name":"Empty","symbols":[]}' },
      { body: '{"name":" ","symbols":[]}' },
      { body: '{"name":"Other","symbols":["spy","XSP","spy"],"id":"stale"}' },
      { body: '{"name":"Unknown","symbols":["QQQQ"]}' },
    ],
  },
  'DELETE /v2/watchlists/:id': {
    path: '/v2/watchlists/{id}',
    graphql: 'mutation { deleteWatchlist(id: "{id}") { deleted } }',
    needs: { symbol: 'none' },
    prepare: storedList,
  },
  'POST /v2/journal/import': {
    path: '/v2/journal/import?import_id={id}',
    body: '{"id":"t1","account_id":"main","symbol":"SPY","side":"buy","qty":1,"price":600.5}\n',
    contentType: 'text/plain',
    graphql: `mutation { importJournal(importId: "{id}", body: "{\\"id\\":\\"t1\\",\\"account_id\\":\\"main\\",\\"symbol\\":\\"SPY\\",\\"side\\":\\"buy\\",\\"qty\\":1,\\"price\\":600.5}") { result { created } } }`,
    needs: { symbol: 'none' },
    prepare: async () => nextId(),
  },
  'GET /v2/journal/accounts': {
    path: '/v2/journal/accounts',
    graphql: '{ journalAccounts { rows { id } } }',
    needs: { symbol: 'none' },
  },
  'POST /v2/journal/accounts': {
    path: '/v2/journal/accounts',
    body: '{"name":"Main","broker":"B"}',
    graphql: 'mutation { createJournalAccount(account: { name: "Main" }) { account { id } } }',
    needs: { symbol: 'none' },
    bodies: [{ body: '{"id":"main","name":"Main"}' }, { body: '{"name":""}' }, { body: '{"broker":5}' }],
  },
  'PUT /v2/journal/accounts/:id': {
    path: '/v2/journal/accounts/{id}',
    body: '{"name":"Other"}',
    graphql: 'mutation { replaceJournalAccount(id: "{id}", account: { name: "Other" }) { account { id } } }',
    needs: { symbol: 'none' },
    prepare: journalAccount,
    bodies: [{ body: '{"id":"stale","name":"Other","broker":null}' }, { body: '{"name":5}' }],
  },
  'PATCH /v2/journal/accounts/:id': {
    path: '/v2/journal/accounts/{id}',
    body: '{"broker":null}',
    graphql: 'mutation { patchJournalAccount(id: "{id}", patch: { broker: null }) { account { id } } }',
    needs: { symbol: 'none' },
    prepare: journalAccount,
    bodies: [{ body: '{}' }, { body: '{"name":null}' }, { body: '{"name":"New"}' }],
  },
  'DELETE /v2/journal/accounts/:id': {
    path: '/v2/journal/accounts/{id}',
    graphql: 'mutation { deleteJournalAccount(id: "{id}") { deleted } }',
    needs: { symbol: 'none' },
    prepare: journalAccount,
    refused: async (app, accountId) => {
      await journalTrade(app, accountId);
      return 'main';
    },
  },
  'GET /v2/journal/trades': {
    path: '/v2/journal/trades',
    graphql: '{ journalTrades { rows { id } } }',
    needs: { symbol: 'none' },
  },
  'POST /v2/journal/trades': {
    path: '/v2/journal/trades',
    body: '{"account_id":"main","symbol":"SPY","side":"buy","qty":1,"price":600.5}',
    graphql: `mutation { createJournalTrade(trade: ${trade}) { trade { id } } }`,
    needs: { symbol: 'none' },
    bodies: [
      {
        body: '{"account_id":"main","symbol":"spy","side":"sell short","qty":0.5,"price":0,"ts":1795000000000,"note":"n"}',
      },
      { body: '{"account_id":"main","symbol":"SPY","side":"buy","qty":-1,"price":600.5}' },
    ],
  },
  'PUT /v2/journal/trades/:id': {
    path: '/v2/journal/trades/{id}',
    body: '{"account_id":"main","symbol":"SPY","side":"buy","qty":2,"price":600.5,"ts":"2026-11-30T10:00:00Z"}',
    graphql: `mutation { replaceJournalTrade(id: "{id}", trade: ${trade}) { trade { id } } }`,
    needs: { symbol: 'none' },
    prepare: journalTrade,
    bodies: [{ body: '{"account_id":"main","symbol":"SPY","side":"buy","qty":0,"price":600.5}' }],
  },
  'PATCH /v2/journal/trades/:id': {
    path: '/v2/journal/trades/{id}',
    body: '{"note":"later"}',
    graphql: 'mutation { patchJournalTrade(id: "{id}", patch: { note: "later" }) { trade { id } } }',
    needs: { symbol: 'none' },
    prepare: journalTrade,
    bodies: [{ body: '{}' }, { body: '{"note":null,"ts":null}' }, { body: '{"qty":null}' }],
  },
  'DELETE /v2/journal/trades/:id': {
    path: '/v2/journal/trades/{id}',
    graphql: 'mutation { deleteJournalTrade(id: "{id}") { deleted } }',
    needs: { symbol: 'none' },
    prepare: journalTrade,
  },
};

/** Texts that parameters of any route are tried with, good and bad. */
export const paramTexts: Record<string, readonly string[]> = {
  symbol: ['SPY', 'spy', 'SPX', 'MSFT', 'ZZZ', 'QQQQ'],
  underlying: ['SPY', 'spx', 'ZZZ', 'QQQQ'],
  symbols: ['SPY', 'spy,SPX,QQQQ,SPY', 'ZZZ'],
  contract: ['O:SPY261218C00600000', 'o:spxw261218p00600000', 'O:SPY261218C00123000', 'O:QQQQ261218C00600000'],
  id: ['mine', 'none such', 'é✓'],
  import_id: ['first'],
  format: ['jsonl', 'csv'],
  class: ['equity', 'index'],
  q: ['SPY', 'zzz', 'no such thing', 'é✓'],
  from: ['2026-11-25', '2026-11-27T00:00', '1764374400000', '2027-01-01'],
  to: ['2026-11-30', '2026-12-01T12:00', '2020-01-01'],
  tz: ['UTC', 'America/New_York', 'Asia/Tokyo'],
  timeframe: ['1s', '1m', '5m', '1h', '1d'],
  tf: ['1s', '1m', '5m', '1h', '1d'],
  limit: ['1', '7', '99999999'],
  cursor: ['x', 'MS4xLmFiY2RlZmdoaWprbA'],
  source: ['trade', 'x'],
  date: ['2026-11-30', '2026-11-27', '2026-12-01', '2026-11-28', '2026-12-02'],
  by_expiry: ['true', 'false'],
  top: ['1', '5', '99999999'],
  at: ['2026-11-30', '2026-11-27T12:56', '1764374400000'],
  expiry: ['2026-12-18', '2026-12-01'],
  strike_gte: ['590000'],
  strike_lte: ['610000'],
  session: ['2026-11-30', '2026-12-01', '2026-11-27', '2026-11-28'],
  min_premium_usd: ['0', '300000', '1e12', '99999999999'],
  from_ms: ['1795000000000', '0'],
  to_ms: ['1796140800000', '1'],
  right: ['call', 'put'],
  expiries: ['2026-12-18', '2026-12-01,2026-12-18', '2030-01-01'],
  dte: ['0'],
};

/** A route with what is known of it. */
export interface KnownRoute {
  name: string;
  route: Route;
  known: RouteCase;
}

/** Every route of the table; a route that nobody told the contract suites of is a failure of all of them. */
export function knownRoutes(): KnownRoute[] {
  return routes.map((route) => {
    const name = `${route.method} ${route.path}`;
    const known = routeCases[name];
    if (!known) throw new Error(`${name} has no entry in test/contract/route-cases.ts`);
    return { name, route, known };
  });
}

/** Contract whose root belongs to `symbol`. */
export function contractOfSymbol(symbol: string): string {
  return `O:${symbol === 'SPX' ? 'SPXW' : symbol.replace('.', '')}261218C00600000`;
}

/** A text with what it stands for put in. */
export function about(text: string, symbol: string, id = 'none'): string {
  return text.replaceAll('{symbol}', symbol).replaceAll('{contract}', contractOfSymbol(symbol)).replaceAll('{id}', id);
}

/** The texts a route's parameter is tried with. */
export function textsOf({ name, known }: KnownRoute, parameter: string): readonly string[] {
  const texts = known.texts?.[parameter] ?? paramTexts[parameter];
  if (!texts) throw new Error(`parameter ${parameter} of ${name} has no texts in test/contract/route-cases.ts`);
  return texts;
}
