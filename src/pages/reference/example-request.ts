import { nextTradingDay, previousTradingDay } from '../../domain/calendar.ts';
import { exchangeDate, type SessionDate } from '../../domain/market-time.ts';
import { latestSession } from '../../graphql/examples.ts';
import { filledIn } from '../../rest/contract/example.ts';
import type { Route } from '../../rest/contract/route.ts';
import { addressOf } from './client/request-address.ts';

/** Values for the braces of examples, by name; unknown ids are absent. */
export type Standing = Readonly<Record<'symbol' | 'session' | 'previous' | 'next' | 'expiry' | 'contract', string>> &
  Readonly<Partial<Record<'key' | 'trade' | 'account' | 'watchlist' | 'screen' | 'import', string>>>;

const dayMs = 86_400_000;

/** The first third Friday at least two weeks after `nowMs`: a day on which options on most symbols expire. */
function monthlyExpiry(nowMs: number): SessionDate {
  for (let ms = nowMs + 14 * dayMs; ; ms += dayMs) {
    const date = exchangeDate(ms);
    const day = new Date(`${date}T00:00:00Z`);
    if (day.getUTCDay() === 5 && day.getUTCDate() >= 15 && day.getUTCDate() <= 21) return date;
  }
}

/** Values of the braces at `nowMs`: the latest session that has begun, and the ids that examples choose. */
export function standingAt(nowMs: number): Standing {
  const expiry = monthlyExpiry(nowMs);
  const contract = `O:SPY${expiry.slice(2).replaceAll('-', '')}C00640000`;
  const session = latestSession(nowMs);
  return {
    symbol: 'SPY',
    session,
    previous: previousTradingDay(session),
    next: nextTradingDay(session),
    expiry,
    contract,
    account: 'paper',
    watchlist: 'funds',
    screen: 'falling',
    import: 'first',
  };
}

/** The request in a route's section. */
export interface ShownRequest {
  /** Path and query. */
  address: string;
  params: Readonly<Record<string, string>>;
  body: string | null;
  /** Media type of the body; null if there is none. */
  contentType: string | null;
}

/** The example of a route as the reference page shows it. */
export function shownRequest(
  { path, queryParams, body: reader, example }: Pick<Route, 'path' | 'queryParams' | 'body' | 'example'>,
  standing: Standing,
): ShownRequest {
  const texts = { ...example.params, ...example.shown.params };
  const params = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, filledIn(text, standing)]));
  const body = example.shown.body ?? example.body;
  return {
    address: addressOf(path, Object.keys(queryParams), params),
    params,
    body: body === undefined ? null : filledIn(body, standing),
    contentType: body === undefined ? null : reader!.mediaTypes[0]!,
  };
}

const order = ['POST', 'PUT', 'PATCH', 'GET', 'DELETE'];

/** Routes in an order in which one example can create what the next one reads, changes and deletes. */
export function inOrderOfExamples<R extends Pick<Route, 'method'>>(routes: readonly R[]): R[] {
  return routes.toSorted((a, b) => order.indexOf(a.method) - order.indexOf(b.method));
}

/** The topics of the example stream: one of each kind. */
export const streamTopics = 'quotes:SPY,QQQ,bars:SPY:1m,gex:SPY:2,cross-section:SPY,large-trades:*:250000';
