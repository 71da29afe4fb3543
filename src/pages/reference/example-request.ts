import { filledIn, type Standing } from '../../rest/contract/example.ts';
import type { Route } from '../../rest/contract/route.ts';
import { addressOf } from './client/curl.ts';

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
