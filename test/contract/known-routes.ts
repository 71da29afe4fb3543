// The route table as the contract suites ask it: each route's example, about a symbol and with records of its own.
import { filledIn } from '../../src/rest/contract/example.ts';
import type { Route } from '../../src/rest/contract/route.ts';
import { routes } from '../../src/rest/routes.ts';
import { putScreen } from '../../src/store/account/saved-screens.ts';
import { putWatchlist } from '../../src/store/account/watchlists.ts';
import { accountTable, insertRecord, tradeTable } from '../../src/store/journal/records.ts';
import type { TestApp } from '../support/app.ts';
import { otherBodies, ownParamTexts, paramTexts } from './tried.ts';

/** Routes that are no tools of MCP: a ticket opens a WebSocket, and rare questions go through the tool `graphql`. */
export const routesWithoutTool: ReadonlySet<string> = new Set([
  'stream-ticket',
  'gex-exposures',
  'gex-figures',
  'gex-change',
  'levels',
  'screen',
  'screens',
  'put-screen',
  'delete-screen',
  'screen-result',
  'vol-figures',
  'option-contracts',
  'contract-history',
  'unusual-flow',
]);

/** A request that changes something: what it sends. */
export interface Sent {
  body?: string;
  contentType?: string;
}

/** The example of a route. `{symbol}`, `{contract}` and the id of a record stand for what the request is about. */
export interface KnownRequest extends Sent {
  /** Path and query of a request that a pro, attested caller is answered 200. */
  path: string;
  /** The equivalent query of the graph. */
  graphql: string;
  /** Makes the record that the request is about, and returns its id. */
  prepare?: (app: TestApp, accountId: string) => Promise<string>;
  /** Texts its parameters are tried with, beside `paramTexts`. */
  texts?: Record<string, readonly string[]>;
  /** Bodies it is tried with besides. */
  bodies?: readonly Sent[];
}

/** A route with its request. */
export interface KnownRoute {
  /** Method and path. */
  name: string;
  route: Route;
  known: KnownRequest;
}

let ids = 0;
const nextId = () => `id-${++ids}`;

/** Makes a trade of the journal account `main`, and returns its id. */
export async function journalTrade(app: TestApp, accountId: string): Promise<string> {
  const id = nextId();
  const row = { id, journalAccountId: 'main', symbol: 'SPY', side: 'buy', qty: 1, price: 2, tsMs: 0, note: null };
  await insertRecord(app.store, tradeTable, { accountId, maxRows: 1000 }, row, app.clock.nowMs);
  return id;
}

/** Saves a screen of the caller under an id that tests know. */
export async function saveScreen(app: TestApp, credential: string, id = 'none'): Promise<void> {
  const body = JSON.stringify({ name: id, where: '{"changePct":{"gt":-100}}' });
  const { status } = await app.send('PUT', `/v2/screener/screens/${id}`, { credential, body });
  if (status !== 200) throw new Error(`saving a screen returned ${status}`);
}

/** Makes a record for a request, and returns its id; by the brace of the examples that stands for it. */
const makers: Record<string, (app: TestApp, accountId: string) => Promise<string>> = {
  key: async (app, accountId) => (await app.access.keys.create({ accountId, name: null, expiresAt: null })).meta.id,
  trade: journalTrade,
  account: async (app, accountId) => {
    const id = nextId();
    const row = { id, name: 'One', broker: 'B' };
    await insertRecord(app.store, accountTable, { accountId, maxRows: 1000 }, row, app.clock.nowMs);
    return id;
  },
  watchlist: async (app, accountId) => {
    const id = nextId();
    await putWatchlist(app.store, accountId, { id, name: 'One', symbols: ['SPY'] }, app.clock.nowMs);
    return id;
  },
  screen: async (app, accountId) => {
    const id = nextId();
    const definition = JSON.stringify({ where: { changePct: { gt: -100 } }, orderBy: null });
    await putScreen(app.store, { accountId, maxScreens: 1000 }, { id, name: id, definition }, app.clock.nowMs);
    return id;
  },
  import: async () => nextId(),
};

/** The sessions of examples in the filled market: one that is over, and is whole. */
const sessions = { session: '2026-11-30', previous: '2026-11-30', next: '2026-12-01' };

function requestOf({ name, path, queryParams, body: reader, example, graphql }: Route): KnownRequest {
  const { params, body } = example;
  const texts = Object.fromEntries(Object.entries(params).map(([key, text]) => [key, filledIn(text, sessions)]));
  const query = Object.keys(queryParams).flatMap((key) => (key in texts ? [`${key}=${texts[key]}`] : []));
  const filled = path.replace(/:(\w+)/g, (_, key: string) => texts[key]!);
  const record = Object.values(params)
    .find((text) => text.slice(1, -1) in makers)
    ?.slice(1, -1);
  return {
    path: query.length > 0 ? `${filled}?${query.join('&')}` : filled,
    graphql: filledIn(graphql, sessions),
    ...(body === undefined ? {} : { body: filledIn(body, sessions), contentType: reader!.mediaTypes[0]! }),
    ...(record === undefined ? {} : { prepare: makers[record]! }),
    ...(ownParamTexts[name] ? { texts: ownParamTexts[name] } : {}),
    ...(otherBodies[name] ? { bodies: otherBodies[name] } : {}),
  };
}

/** A route without the parameters that decide the form of its answer: they have suites of their own. */
function withoutForm({ queryParams, ...route }: Route): Route {
  const { table: _table, provenance: _provenance, ...asked } = queryParams;
  return { ...route, queryParams: asked };
}

/** Every route of the table. */
export function knownRoutes(): KnownRoute[] {
  return routes.map((route) => ({
    name: `${route.method} ${route.path}`,
    route: withoutForm(route),
    known: requestOf(route),
  }));
}

/** Contract whose root belongs to `symbol`. */
export function contractOfSymbol(symbol: string): string {
  return `O:${symbol === 'SPX' ? 'SPXW' : symbol.replace('.', '')}261218C00600000`;
}

/** A text with what it stands for put in. */
export function about(text: string, symbol: string, id = 'none'): string {
  const records = Object.fromEntries(Object.keys(makers).map((record) => [record, id]));
  return filledIn(text, { symbol, contract: contractOfSymbol(symbol), ...records });
}

/** The texts a route's parameter is tried with; of a parameter that is new, that of its example. */
export function textsOf({ name, route, known }: KnownRoute, parameter: string): readonly string[] {
  const example = route.example.params[parameter];
  const texts =
    known.texts?.[parameter] ??
    paramTexts[parameter] ??
    (example === undefined ? undefined : [about(filledIn(example, sessions), 'SPY')]);
  if (!texts)
    throw new Error(`parameter ${parameter} of ${name} has neither an example nor texts in test/contract/tried.ts`);
  return texts;
}
