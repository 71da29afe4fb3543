// A call of each route, as the packages make it: the requests of the reference page.
import { expect } from 'vitest';
import { isMarketGroup } from '../../src/core/domain/screener.ts';
import { inOrderOfExamples, shownRequest } from '../../src/pages/reference/example-request.ts';
import type { Route } from '../../src/rest/contract/route.ts';
import { routes } from '../../src/rest/routes.ts';
import type { Json } from '../support/app.ts';
import type { SampleGateway } from './sample-gateway.ts';

/** A call of a route. */
export interface RouteCall {
  route: Route;
  params: Readonly<Record<string, string>>;
  /** The body as a value; a text if it is no JSON. Absent if there is none. */
  body?: unknown;
  /** Path and query of the same request. */
  address: string;
  credential: 'KEY' | 'SESSION';
}

/** An answer that a package read. */
export interface Read {
  data: Json;
  meta: Json;
}

/** The calls, each after those that make what it changes. `{key}` and `{trade}` stand for ids that calls return. */
export function routeCalls({ standing }: Pick<SampleGateway, 'standing'>): RouteCall[] {
  return inOrderOfExamples(routes).map((route) => {
    const { params, body, contentType, address } = shownRequest(route, standing);
    const credential = route.needs.endsWith('site-session') ? 'SESSION' : 'KEY';
    const value = body !== null && contentType!.includes('json') ? JSON.parse(body) : body;
    return { route, params, address, credential, ...(body === null ? {} : { body: value }) };
  });
}

/** Asks a route without a package. */
export async function asked({ app, key, session }: SampleGateway, { route, address, credential }: RouteCall) {
  const { status, body } = await app.send(route.method, address, { credential: credential === 'KEY' ? key : session });
  expect(status, address).toBe(200);
  return body as Read;
}

/** Counts that grow with each request, and times of requests. */
const changing = new Set(['read_at_ms', 'count', 'totals_by_scope_group', 'by_day', 'last_used_at']);
const withoutChanging = (value: unknown): Json =>
  JSON.parse(JSON.stringify(value, (key, inner) => (changing.has(key) ? null : inner)));

/** Expects what a package read to be what the route answers. */
export function expectSame({ route }: RouteCall, read: Read, answer: Read): void {
  const isExact = isMarketGroup(route.scopeGroup);
  const compared = isExact
    ? ({ data, meta: { read_at_ms: _, cached: __, ...meta } }: Read) => ({ data, meta })
    : ({ data, meta }: Read) => withoutChanging({ data, meta });
  expect(compared(read), route.name).toEqual(compared(answer));
}
