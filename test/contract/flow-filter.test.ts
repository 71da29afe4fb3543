import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestApp } from '../support/app.ts';
import { filledApp } from '../support/filled-market.ts';

let app: TestApp;
beforeAll(async () => {
  app = await filledApp();
});
afterAll(() => app.close());

/** Filter of a request for flow. */
interface Filter {
  symbol?: string;
  premium?: number;
}

/** A request for flow of any underlying, narrowed by a filter. */
type Way = (filter: Filter) => { method: string; path: string; body?: object; accept?: string };

const json = 'application/json';
const events = 'text/event-stream';

function fieldArguments({ symbol, premium }: Filter, more: string[]): string {
  const given = [
    ...more,
    ...(symbol === undefined ? [] : [`symbol: "${symbol}"`]),
    ...(premium === undefined ? [] : [`minPremiumUsd: ${premium}`]),
  ];
  return given.length > 0 ? `(${given.join(', ')})` : '';
}

function parameters({ symbol, premium }: Filter, more: Record<string, string> = {}): Record<string, string> {
  return {
    ...more,
    ...(symbol !== undefined && { symbol }),
    ...(premium !== undefined && { min_premium_usd: String(premium) }),
  };
}

const route =
  (path: string, more: Record<string, string> = {}): Way =>
  (filter) => ({ method: 'GET', path: `${path}?${new URLSearchParams(parameters(filter, more))}` });

const query =
  (field: string, more: string[] = []): Way =>
  (filter) => ({
    method: 'POST',
    path: '/graphql',
    body: { query: `{ ${field}${fieldArguments(filter, more)} { __typename } }` },
  });

const subscription = (filter: Filter) => `subscription { largeTrades${fieldArguments(filter, [])} { seq } }`;

const tool =
  (name: string, more: Record<string, string> = {}): Way =>
  (filter) => ({
    method: 'POST',
    path: '/mcp',
    accept: `${json}, ${events}`,
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: parameters(filter, more) } },
  });

const date = '2026-11-30';

/** Every way to ask. */
const ways: Record<string, Way> = {
  'GET /v2/flow/large-trades': route('/v2/flow/large-trades'),
  'GET /v2/flow/eod': route('/v2/flow/eod', { session: date }),
  'the query largeTrades': query('largeTrades'),
  'the query eod': query('eod', [`session: "${date}"`]),
  'the subscription': (filter) => ({
    method: 'POST',
    path: '/graphql',
    accept: events,
    body: { query: subscription(filter) },
  }),
  'the subscription by GET': (filter) => ({
    method: 'GET',
    path: `/graphql?${new URLSearchParams({ query: subscription(filter) })}`,
    accept: events,
  }),
  'the topic': ({ symbol = '*', premium }) => ({
    method: 'GET',
    path: `/v2/stream?topics=large-trades:${symbol}${premium === undefined ? '' : `:${premium}`}`,
    accept: events,
  }),
  'the tool large_trades': tool('large_trades'),
  'the tool eod_prints': tool('eod_prints', { session: date }),
};

/** Sends it; the contract's code it is refused with, or `served`. A stream that says nothing for 400 ms is served. */
async function outcome(name: string, filter: Filter, credential: string): Promise<string> {
  const { method, path, body, accept = json } = ways[name]!(filter);
  const stop = new AbortController();
  const answer = await fetch(app.url + path, {
    method,
    headers: { authorization: `Bearer ${credential}`, accept, 'content-type': json },
    ...(body && { body: JSON.stringify(body) }),
    signal: stop.signal,
  });
  const isStream = answer.headers.get('content-type')?.startsWith(events) === true;
  if (isStream) setTimeout(() => stop.abort(), 400);
  let said = '';
  try {
    for await (const part of answer.body!.pipeThrough(new TextDecoderStream())) said += part;
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  }
  // Within a tool's answer the envelope is a text too.
  return /\\?"code\\?":\s*\\?"(\w+)/.exec(said)?.[1] ?? 'served';
}

// At the same time, each with a key of its own: a key may have only two requests in flight.
describe.each(Object.keys(ways))('%s', { concurrent: true }, (name) => {
  test('asks a key for a symbol or a least premium, and a session for neither', async () => {
    const key = await app.key();
    expect({
      bare: await outcome(name, {}, key),
      symbol: await outcome(name, { symbol: 'SPY' }, key),
      premium: await outcome(name, { premium: 250_000 }, key),
      anyPremium: await outcome(name, { premium: 0 }, key),
      session: await outcome(name, {}, await app.session()),
    }).toEqual({
      bare: 'invalid_params',
      symbol: 'served',
      premium: 'served',
      anyPremium: 'served',
      session: 'served',
    });
  });

  test('says what is missing only to those who may read flow', async () => {
    expect(await outcome(name, {}, await app.key({ apiTier: 'basic' }))).toBe('not_entitled_tier');
  });
});

test('below a symbol its flow needs no more, and is that symbol’s', async () => {
  const { data, errors } = await app.graphql(
    `{ symbol(symbol: "SPY") { flow { largeTrades { meta { count } } eod(session: "${date}") { symbol } } } }`,
    {},
    { credential: await app.key() },
  );
  expect(errors).toBeUndefined();
  expect(data.symbol.flow).toMatchObject({ largeTrades: { meta: { count: 100 } }, eod: { symbol: 'SPY' } });
});
