// Answers of a gateway to every GET route, so that two versions can be compared.
import { createHash } from 'node:crypto';
import { barsClock, type Filled, fillClock } from '../../scripts/upgrade/fill.ts';
import { routes } from '../../src/rest/routes.ts';
import { knownRoutes } from '../contract/known-routes.ts';
import { madeRequests } from '../contract/requests.ts';

/** A request and its caller. */
export interface Asked {
  /** Method and path as in the route table. */
  route: string;
  path: string;
  credential: string;
  accept: string;
}

export interface Answered {
  asked: Asked;
  status: number;
  /** SHA-256 of the body, but for `exceptions`. */
  hash: string;
  text: string;
}

/** Values to try for parameters, by clock: symbols and times for which the old store holds data then, and others. */
const texts: Record<string, Record<string, readonly string[]>> = {
  [fillClock]: {
    symbol: ['SPY', 'spx', 'NVDA', 'BRK.B', 'QQQQ'],
    underlying: ['SPY', 'spx', 'QQQQ'],
    symbols: ['SPY,QQQ', 'spy,SPX,QQQQ,BRK.B'],
    contract: ['O:SPY261218C00640000', 'O:SPXW261218P06400000', 'O:SPY261218C00123000'],
    from: ['2026-11-18', '2026-11-19T09:30'],
    to: ['2026-11-20', '2026-11-19T12:00'],
    date: ['2026-11-18', '2026-11-19', '2026-11-14'],
    at: ['2026-11-19', '2026-11-18T12:56'],
    session: ['2026-11-19', '2026-11-18', '2026-11-14'],
    expiry: ['2026-12-18', '2026-11-27'],
    expiries: ['2026-12-18', '2026-11-27,2026-12-18'],
    strike_gte: ['630000'],
    strike_lte: ['640000'],
    from_ms: ['1795100000000'],
    to_ms: ['1795170000000'],
  },
  [barsClock]: {
    symbol: ['SPY', 'AAPL', 'IBM', 'RUT'],
    underlying: ['SPY', 'AAPL'],
    symbols: ['SPY,AAPL,IBM'],
    contract: ['O:AAPL140613C00640000', 'O:AAPL140621C00650000'],
    from: ['2019-02-14', '2013-10-10', '2014-06-06T09:30', '2013-01-01'],
    to: ['2019-02-15', '2013-10-12', '2014-06-07', '2019-02-15T14:00'],
    date: ['2013-10-10', '2014-06-06', '2019-02-14'],
    at: ['2014-06-06', '2019-02-14T12:00'],
    session: ['2014-06-06', '2013-10-10', '2019-02-14'],
    expiry: ['2014-06-13', '2014-06-21'],
    expiries: ['2014-06-13,2014-06-21'],
    strike_gte: ['90000', '600000'],
    strike_lte: ['100000', '700000'],
  },
};

/** The clocks at which is asked. */
export const clocks = Object.keys(texts);

interface Exception {
  /** As in the route table; `*` = every route. */
  route: string;
  /** The addresses it is about; absent = all of the route. */
  path?: RegExp;
  /** Text that is removed from both answers, or a text and its replacement. */
  differs: RegExp | { was: string; is: string };
  why: string;
}

const reworded = 'texts for people are in plain English';
const shares = 'rows have gex_shares and delta_adj_shares';

/** Matches keys with any of some values, and one comma beside. */
const keys = (values: RegExp, ...names: string[]) => {
  const each = `"(?:${names.join('|')})":(?:${values.source})`;
  return new RegExp(`,${each}|${each},?`, 'g');
};

/**
 * Where an answer of this version may differ from one of the old release. Everything else is the same, byte by byte.
 */
const exceptions: readonly Exception[] = [
  {
    route: '*',
    differs: keys(/"[A-Z.]+ is not a known ticker\."/, 'note'),
    why: 'an unknown ticker is named where the answer is 200',
  },
  {
    route: 'GET /v2/gex/:symbol/grid',
    path: /dte=0/,
    differs: /[\s\S]+/g,
    why: 'the expiry of the day is that of the session of the capture, not of the clock',
  },
  {
    route: 'GET /v2/chain/:symbol/expirations',
    differs: keys(/"(?:live|archive)"|"The latest capture of [^"]*"/, 'plane', 'note'),
    why: 'a latest capture of long ago is served as what it is',
  },
  ...['term', 'surface'].map((name) => ({
    route: `GET /v2/options/:symbol/vol/${name}`,
    differs: /"atm_iv":(?:null|[\d.e-]+)/g,
    why: 'the volatility at the money is read at the forward',
  })),
  {
    route: 'GET /v2/offexchange/:symbol/concentration',
    differs: /[\s\S]+/g,
    why: 'concentration is made from published levels, once it is recomputed',
  },
  { route: 'GET /v2/screener/sectors', differs: /"computed_at":\d+/g, why: 'when it was computed' },
  { route: 'GET /v2/screener/movers', differs: /"computed_at":\d+/g, why: 'when it was computed' },
  {
    route: 'GET /v2/account/usage',
    differs: keys(/\{[^}]*\}/, 'journal'),
    why: 'usage tells the quota of journal rows',
  },
  {
    route: 'GET /v2/account/usage',
    differs: keys(/\{[^}]*\}/, 'screens'),
    why: 'usage tells the quota of saved screens',
  },
  { route: 'GET /v2/account/keys', differs: /"last_used_at":(\d+|null)/g, why: 'when the key was last used' },
  {
    route: 'GET /v2/chain/:symbol/expirations',
    differs: keys(/true|false/, 'cached'),
    why: 'whether the process had the answer in memory',
  },
  {
    route: '*',
    differs: { was: 'expected the cursor of the page before,', is: 'expected the cursor of the previous page,' },
    why: reworded,
  },
  {
    route: 'GET /v2/gex/:symbol/grid',
    differs: { was: 'dte: is not served together with expiries', is: 'dte: cannot be combined with expiries' },
    why: reworded,
  },
  {
    route: '*',
    differs: { was: 'and no contract solved.', is: 'and no contract has been solved.' },
    why: reworded,
  },
  {
    route: 'GET /v2/options/:contract/bars',
    differs: { was: 'are held for the session', is: 'are stored for the session' },
    why: reworded,
  },
  { route: 'GET /v2/screener/sectors', differs: keys(/"Preliminary: [^"]*"/, 'note'), why: reworded },
  {
    route: 'GET /v2/gex/:symbol/reference',
    differs: /"(?:gex_shares|delta_adj_shares)":[^,}]+,/g,
    why: shares,
  },
  { route: 'GET /v2/gex/:symbol/reference', differs: /^strike,[^{]*$/g, why: `${shares}, in CSV too` },
  {
    route: 'GET /v2/gex/:symbol/reference',
    differs: keys(/null/, 'implied_spot', 'spot_stale', 'inconsistent_expiries'),
    why: 'a reference says what its options were priced with; nothing of captures of before',
  },
  ...['GET /v2/chain/:symbol', 'GET /v2/options/:symbol/vol/term', 'GET /v2/options/:symbol/vol/surface'].map(
    (route) => ({
      route,
      differs: keys(/null|"vendor"|"solved"/, 'greeks_source'),
      why: 'meta says whose greeks are shown',
    }),
  ),
  ...['grid', 'history', 'reference'].map((name) => ({
    route: `GET /v2/gex/:symbol/${name}`,
    differs: keys(/null|"[a-z_]+"|\[[^\]]*\]/, 'flip_status'),
    why: 'meta says how much a flip point says',
  })),
  ...[
    ...['GET /v2/gex/:symbol/grid', 'GET /v2/gex/:symbol/history', 'GET /v2/chain/:symbol'],
    ...['GET /v2/options/:symbol/vol/term', 'GET /v2/options/:symbol/vol/surface'],
  ].map((route) => ({
    route,
    differs: keys(/null/, 'inconsistent_expiries', 'spot_stale'),
    why: 'meta says which prices contradict each other; nothing of captures of before',
  })),
  ...routes.map(({ method, path }) => ({
    route: `${method} ${path}`,
    differs: keys(/\d+/, 'read_at_ms'),
    why: 'meta says when the answer was read',
  })),
  {
    route: '*',
    differs:
      /,"note":"Accept: expected one of [^"\\]*\\"[^"\\]*\\"\."| ?Accept: expected one of [^"\\]*\\"[^"\\]*\\"\./g,
    why: 'a note says that the route serves none of the accepted types',
  },
  ...['GET /v2/gex/:symbol/grid', 'GET /v2/chain/:symbol', 'GET /v2/chain/:symbol/expirations'].map((route) => ({
    route,
    differs: keys(/\d+/, 'at', 'at_effective'),
    why: 'meta says which instant was asked for',
  })),
  {
    route: 'GET /v2/chain/:symbol',
    path: /^\/v2\/chain\/spx\?at=2026-11-18T12%3A56&strike_gte=630000$/,
    differs: /[\s\S]+/g,
    why: 'rows in protobuf name the root where the chain lists an expiry, right and strike under several',
  },
  ...['GET /v2/quotes', 'GET /v2/screener/movers'].map((route) => ({
    route,
    differs: { was: '"volume":0,', is: '"volume":null,' },
    why: 'an index has no volume',
  })),
  ...['GET /v2/quotes', 'GET /v2/screener/movers'].map((route) => ({
    route,
    differs: { was: ',0,', is: ',,' },
    why: 'an index has no volume, in CSV too',
  })),
  {
    route: 'GET /v2/stocks/:symbol/bars',
    differs: /"message":"source: (?:\\.|[^"\\])*"/g,
    why: 'source is described as one of a list',
  },
  {
    route: 'GET /v2/stocks/:symbol/bars',
    path: /adjusted=true/,
    differs: keys(/true|"[^"]*"/, 'adjusted', 'cursor'),
    why: 'meta says that bars are adjusted, and a cursor is of bars that are or are not',
  },
  {
    route: 'GET /v2/flow/large-trades',
    path: /^(?!.*session=)/,
    differs: /[\s\S]+/g,
    why: 'without session the feed holds about a day, no longer every session',
  },
  {
    route: 'GET /v2/flow/large-trades',
    differs: { was: '"retention":"intraday_24h"', is: '"retention":"stored_session"' },
    why: 'retention says that a session was asked for',
  },
  {
    route: 'GET /v2/flow/:symbol/cross-section',
    path: /session=/,
    differs: { was: '"retention":"intraday_24h"', is: '"retention":"stored_session"' },
    why: 'retention says that a session was asked for',
  },
  {
    route: 'GET /v2/flow/eod',
    differs: keys(/"[^"]*"/, 'note'),
    why: 'an empty list of an index says that keys read equities',
  },
];

const accepts = ['application/json', 'text/csv', 'application/x-protobuf'];

/** Windows that this version refuses: reversed ones, and those wholly before the years that are served. */
function isRefused(path: string): boolean {
  const { pathname, searchParams } = new URL(path, 'http://host');
  const [from, to] = [searchParams.get('from'), searchParams.get('to')];
  const isReversed = from !== null && to !== null && from > to;
  if (pathname === '/v2/flow/eod') return searchParams.get('to_ms') === '1';
  return /^\/v2\/(?:stocks|offexchange)\//.test(pathname) && isReversed;
}

/** Routes that the oldest release does not have. */
const newerRoutes: ReadonlySet<string> = new Set([
  'GET /v2/gex/:symbol/exposures',
  'GET /v2/gex/:symbol/figures',
  'GET /v2/gex/:symbol/change',
  'GET /v2/levels/:symbol',
  'GET /v2/screener/screen',
  'GET /v2/screener/screens',
  'GET /v2/screener/screens/:id/result',
  'GET /v2/flow/:symbol/unusual',
  'GET /v2/options',
  'GET /v2/options/:symbol/vol/figures',
  'GET /v2/options/:contract/history',
]);

/** Requests to every GET route of the table, by callers who may read everything and by one who may read little. */
export function everyRequest(clock: string, filled: Filled): Asked[] {
  const routes = knownRoutes().filter(({ name, route }) => route.method === 'GET' && !newerRoutes.has(name));
  return routes.flatMap(({ name, route, known }) => {
    const mixed = { ...known, texts: { ...known.texts, ...texts[clock] } };
    const made = madeRequests({ name, route, known: mixed }, 10).map(({ path }) => path);
    // The release before did not know `at` of these routes.
    const isUnknown = (path: string) =>
      /[?&]known=/.test(path) || (route.instant !== null && route.instant !== 'own at' && /[?&]at=/.test(path));
    const paths = [...new Set(made)].filter((path) => !isRefused(path) && !isUnknown(path));
    const session = filled.sessions[clock]!;
    const callers = [route.needs.endsWith('site-session') ? session : filled.proKey, filled.freeKey];
    return paths.flatMap((path, i) =>
      callers.map((credential) => ({ route: name, path, credential, accept: accepts[i % 4] ?? accepts[0]! })),
    );
  });
}

/** The same answer with the keys of its metadata in order: they come in another one from version to version. */
function withSortedMeta(text: string): string {
  return text.replace(/("meta":)(\{.*\})(?=\}$|,"data":)/, (_, key: string, meta: string) => {
    const entries = Object.entries(JSON.parse(meta) as object).sort(([a], [b]) => (a < b ? -1 : 1));
    return `${key}${JSON.stringify(Object.fromEntries(entries))}`;
  });
}

function comparable({ route, path }: Asked, text: string): string {
  const relevant = exceptions.filter(
    (each) => (each.route === route || each.route === '*') && (each.path?.test(path) ?? true),
  );
  return relevant.reduce(
    (left, { differs }) =>
      differs instanceof RegExp ? left.replaceAll(differs, '') : left.replaceAll(differs.was, differs.is),
    withSortedMeta(text),
  );
}

async function answer(url: string, asked: Asked): Promise<Answered> {
  const headers = { authorization: `Bearer ${asked.credential}`, accept: asked.accept };
  const response = await fetch(url + asked.path, { headers });
  const text = comparable(asked, Buffer.from(await response.arrayBuffer()).toString('latin1'));
  return { asked, status: response.status, hash: createHash('sha256').update(text).digest('hex'), text };
}

/** A gateway's answers to requests, one after the other: what one request counts, a later one shows. */
export async function answersTo(url: string, requests: readonly Asked[]): Promise<Answered[]> {
  const answers: Answered[] = [];
  for (const asked of requests) answers.push(await answer(url, asked));
  return answers;
}

/** The next pages of these answers, by the cursors in them. */
export function nextPages(answers: readonly Answered[]): Asked[] {
  return answers.flatMap(({ asked, text }) => {
    const cursor = /"(?:next_)?cursor":"([^"]+)"/.exec(text)?.[1];
    if (cursor === undefined || asked.path.includes('cursor=')) return [];
    return [{ ...asked, path: `${asked.path}${asked.path.includes('?') ? '&' : '?'}cursor=${cursor}` }];
  });
}

/**
 * Asks a gateway again what was answered before; each difference in three lines: the request, the old answer, the new
 * one.
 */
export async function changed(url: string, before: readonly Answered[]): Promise<string[]> {
  const requests = before.map(({ asked }) => asked);
  const after = await answersTo(url, requests);
  return before.flatMap((was, i) => {
    const is = after[i]!;
    if (was.status === is.status && was.hash === is.hash) return [];
    let at = 0;
    while (at < was.text.length && was.text[at] === is.text[at]) at++;
    const around = ({ status, text }: Answered) => `\n  ${status} …${text.slice(Math.max(0, at - 60), at + 100)}`;
    return [`${was.asked.path} (${was.asked.accept})${around(was)}${around(is)}`];
  });
}
