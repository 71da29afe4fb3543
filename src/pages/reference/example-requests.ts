import { previousTradingDay } from '../../domain/calendar.ts';
import { exchangeDate, type SessionDate } from '../../domain/market-time.ts';
import { latestSession } from '../../graphql/examples.ts';
import type { Route } from '../../rest/contract/route.ts';

/**
 * The request that a route is shown with: texts of its parameters, and a body. In braces: `{session}` the latest
 * session that has begun, `{previous}` the one before, `{expiry}` a monthly expiration, `{contract}` a contract of it,
 * `{key}` and `{trade}` the id of what the route before made.
 */
export interface ExampleRequest {
  params?: Readonly<Record<string, string>>;
  body?: string;
  contentType?: string;
}

const symbol = 'SPY';
const trade = '{"account_id":"main","symbol":"SPY","side":"buy","qty":10,"price":636.5}';
const list = '{"name":"Index funds","symbols":["SPY","QQQ"]}';
const patch = 'application/merge-patch+json';

/** By the name of the route; in an order in which one thing can be made, changed and deleted. */
const exampleRequests: Readonly<Record<string, ExampleRequest>> = {
  symbols: { params: { class: 'index' } },
  'symbol-lookup': { params: { q: 'aapl' } },
  quotes: { params: { symbols: 'SPY,QQQ' } },
  'stock-bars': { params: { symbol, from: '{session}T09:30', to: '{session}T10:00', timeframe: '5m' } },
  movers: { params: { limit: '3' } },
  'gex-history': { params: { symbol, date: '{previous}', from: '15:00', to: '15:30', top: '2' } },
  'gex-grid': { params: { symbol, top: '3' } },
  'gex-reference': { params: { symbol, date: '{session}', basis: 'open' } },
  'legacy-strikes': { params: { underlying: symbol, date: '{session}' } },
  chain: { params: { symbol, expiry: '{expiry}', strike_gte: '630000', strike_lte: '640000' } },
  classify: { body: '{"classification":"non_professional"}' },
  classification: {},
  'stream-ticket': {},
  'create-key': { body: '{"name":"Laptop"}' },
  'api-keys': {},
  'revoke-key': { params: { id: '{key}' } },
  'large-trades': { params: { symbol, min_premium_usd: '250000', limit: '2' } },
  'eod-prints': { params: { symbol, session: '{session}', right: 'call' } },
  'cross-section': { params: { symbol, session: '{session}' } },
  'option-bars': { params: { contract: '{contract}', tf: '5m', session: '{session}' } },
  'off-exchange-concentration': { params: { symbol: 'AAPL', limit: '3' } },
  'off-exchange-activity': { params: { symbol: 'AAPL' } },
  'off-exchange-composition': { params: { symbol: 'AAPL' } },
  'off-exchange-profile': { params: { symbol: 'AAPL', limit: '3' } },
  'put-watchlist': { params: { id: 'funds' }, body: list },
  watchlists: {},
  'delete-watchlist': { params: { id: 'funds' } },
  'journal-import': {
    params: { import_id: 'first' },
    body: '{"id":"t1","account_id":"main","symbol":"SPY","side":"buy","qty":10,"price":636.5}\n{"id":"t2","account_id":"main","symbol":"SPY","side":"sell"}\n',
    contentType: 'text/plain',
  },
  'create-journal-account': { body: '{"id":"paper","name":"Paper","broker":"Own"}' },
  'replace-journal-account': { params: { id: 'paper' }, body: '{"name":"Paper account"}' },
  'patch-journal-account': { params: { id: 'paper' }, body: '{"broker":null}', contentType: patch },
  'journal-accounts': {},
  'delete-journal-account': { params: { id: 'paper' } },
  'create-journal-trade': { body: trade },
  'replace-journal-trade': { params: { id: '{trade}' }, body: trade.replace('"qty":10', '"qty":20') },
  'patch-journal-trade': { params: { id: '{trade}' }, body: '{"note":"held overnight"}', contentType: patch },
  'journal-trades': { params: { limit: '2' } },
  'delete-journal-trade': { params: { id: '{trade}' } },
};

/** What stands in the path of a route that has no example of its own. */
const usualParams: Readonly<Record<string, string>> = { symbol, contract: '{contract}' };

/** The request that a route is shown with: its own, else its path with the usual values. */
export function exampleOf({ name, path }: Pick<Route, 'name' | 'path'>): ExampleRequest {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, param]) => [param!, usualParams[param!] ?? '']);
  return exampleRequests[name] ?? { params: Object.fromEntries(inPath) };
}

/** Routes in an order in which one example can make what the next one changes. */
export function inOrderOfExamples<R extends Pick<Route, 'name'>>(routes: readonly R[]): R[] {
  const order = Object.keys(exampleRequests);
  return routes.toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
}

/** What stands for the texts in braces. */
export interface Standing {
  session: SessionDate;
  previous: SessionDate;
  expiry: SessionDate;
  contract: string;
  /** Id of an API key. */
  key: string;
  /** Id of a journal trade. */
  trade: string;
}

const dayMs = 86_400_000;

/** The first third Friday that is at least two weeks after `nowMs`: a day on which options on most symbols expire. */
function monthlyExpiry(nowMs: number): SessionDate {
  for (let ms = nowMs + 14 * dayMs; ; ms += dayMs) {
    const date = exchangeDate(ms);
    const day = new Date(`${date}T00:00:00Z`);
    if (day.getUTCDay() === 5 && day.getUTCDate() >= 15 && day.getUTCDate() <= 21) return date;
  }
}

/** What the dates and the contract in examples are at `nowMs`. */
export function standingAt(nowMs: number): Omit<Standing, 'key' | 'trade'> {
  const expiry = monthlyExpiry(nowMs);
  const contract = `O:SPY${expiry.slice(2).replaceAll('-', '')}C00640000`;
  const session = latestSession(nowMs);
  return { session, previous: previousTradingDay(session), expiry, contract };
}

/** An example with what its braces stand for put in; what is not known stays as it is. */
export function filledIn(
  { params = {}, body, contentType = 'application/json' }: ExampleRequest,
  standing: Partial<Standing>,
): { params: Record<string, string>; body: string | null; contentType: string | null } {
  const fill = (text: string) =>
    text.replace(
      /\{(session|previous|expiry|contract|key|trade)\}/g,
      (whole, name: keyof Standing) => standing[name] ?? whole,
    );
  return {
    params: Object.fromEntries(Object.entries(params).map(([name, text]) => [name, fill(text)])),
    body: body === undefined ? null : fill(body),
    contentType: body === undefined ? null : contentType,
  };
}

/** The topics of the stream that is shown: one of each kind. */
export const streamTopics = 'quotes:SPY,QQQ,bars:SPY:1m,gex:SPY:2,cross-section:SPY,large-trades:*:250000';
