import { type Client, createClient } from 'graphql-sse';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Json, type TestApp, testApp } from '../support/app.ts';
import { readEvents } from '../support/event-reader.ts';
import { type HandTimers, handTimers, trade } from '../support/live.ts';
import { storeDays } from '../support/market.ts';

const nowMs = Date.parse('2026-11-20T17:00Z');
let app: TestApp;
let timers: HandTimers;

beforeAll(async () => {
  timers = handTimers();
  app = await testApp({ nowMs, every: timers.every });
  for (const symbol of ['SPY', 'AAPL']) await storeDays(app.store, symbol, { '2026-11-18': 500, '2026-11-19': 600 });
});
afterAll(() => app.close());

function clientOf(credential: string, singleConnection: boolean, on = app): Client<boolean> {
  const client = createClient({
    url: `${on.url}/graphql${singleConnection ? '/stream' : ''}`,
    singleConnection,
    headers: { authorization: `Bearer ${credential}` },
    retryAttempts: 0,
    // A client that is disposed of takes its last words, cut off or too late, for an error that nobody hears.
    async fetchFn(url: string, init: RequestInit) {
      if (init.method !== 'DELETE') return fetch(url, init);
      await fetch(url, { ...init, signal: null });
      return new Response();
    },
  } as Parameters<typeof createClient>[0]);
  onTestFinished(() => client.dispose());
  return client as Client<boolean>;
}

/** What a subscription has said so far. */
function follow(client: Client<boolean>, query: string) {
  const said: Json[] = [];
  const done = Promise.withResolvers<void>();
  const stop = client.subscribe(
    { query },
    { next: (message) => said.push(message), error: done.reject, complete: done.resolve },
  );
  return { said, stop, done: done.promise };
}

const quoteOf = (symbol: string) => `subscription { quotes(symbols: ["${symbol}"]) { symbol spot } }`;
const nothingLeft = () => expect.poll(() => app.live.counts()).toEqual({ streams: 0, topics: 0 });

describe.each([
  ['on a connection each', false],
  ['on one connection', true],
])('the graphql-sse client, its subscriptions %s,', (_name, single) => {
  test('is told what changes, of several subscriptions, until it leaves', async () => {
    const client = clientOf(await app.key(), single);
    const spy = follow(client, quoteOf('SPY'));
    const aapl = follow(client, quoteOf('AAPL'));
    await expect.poll(() => [spy.said.length, aapl.said.length]).toEqual([1, 1]);
    const price = single ? 700 : 701;
    await trade(app.store, { SPY: price }, nowMs - 1000);
    await expect.poll(() => spy.said.at(-1)).toEqual({ data: { quotes: { symbol: 'SPY', spot: price } } });
    spy.stop();
    await expect.poll(() => app.live.counts().topics).toBe(1);
    await trade(app.store, { AAPL: price }, nowMs - 900);
    await expect.poll(() => aapl.said.at(-1).data.quotes.spot).toBe(price);
    expect(spy.said).toHaveLength(2);
    aapl.stop();
    client.dispose();
    await nothingLeft();
  });

  test('is told why a subscription is refused, and why one ends', async () => {
    const accountId = await app.account();
    const { key } = await app.access.keys.create({ accountId, name: null, expiresAt: null });
    const client = clientOf(key, single);
    const trades = follow(client, 'subscription { largeTrades(minPremiumUsd: 0) { seq } }');
    const quotes = follow(client, quoteOf('SPY'));
    await expect.poll(() => quotes.said.length).toBe(1);
    await expect.poll(() => app.live.counts().topics).toBe(2);
    await app.access.accounts.set(accountId, { apiTier: 'free' });
    timers.recheck();
    await trades.done;
    expect(trades.said.at(-1).errors[0].extensions).toMatchObject({
      code: 'not_entitled_tier',
      reason: 'not_entitled',
    });
    if (single) {
      const refused = follow(client, 'subscription { largeTrades(minPremiumUsd: 0) { seq } }');
      await refused.done;
      expect(refused.said[0].errors[0].extensions.code).toBe('not_entitled_tier');
      const wrong = follow(client, 'subscription { nothing }');
      await wrong.done;
      expect(wrong.said[0].errors[0].extensions.code).toBe('invalid_params');
    }
    client.dispose();
    await nothingLeft();
  });

  test('is told when the server stops', async () => {
    const stopping = await testApp({ store: app.store, nowMs });
    const client = clientOf(await stopping.key(), single, stopping);
    const quotes = follow(client, quoteOf('SPY'));
    await expect.poll(() => quotes.said.length).toBe(1);
    stopping.live.close();
    await quotes.done;
    expect(quotes.said.at(-1).errors[0].extensions).toEqual({ code: 'internal', reason: 'shutdown' });
    await expect.poll(() => stopping.live.counts().streams).toBe(0);
  });
});

describe('/graphql/stream', () => {
  const at = () => `${app.url}/graphql/stream`;
  const send = (method: string, credential: string | null, headers: Record<string, string> = {}, body?: string) =>
    fetch(at(), {
      method,
      headers: {
        ...(credential === null ? {} : { authorization: `Bearer ${credential}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    });

  test('is reserved, and used, by a caller alone', async () => {
    expect((await send('PUT', null)).status).toBe(401);
    const key = await app.key();
    const reserved = await send('PUT', key);
    expect([reserved.status, reserved.headers.get('x-ratelimit-limit')]).toEqual([201, '1000000']);
    const token = { 'x-graphql-event-stream-token': await reserved.text() };
    expect((await send('GET', await app.key(), token)).status).toBe(404);
    expect((await send('GET', key)).status).toBe(400);
    const reader = await readEvents(at(), { headers: { authorization: `Bearer ${key}`, ...token } });
    expect(reader.headers['cache-control']).toBe('no-store');
    expect((await send('GET', key, token)).status).toBe(409);
    const operation = (id: string) =>
      JSON.stringify({ query: '{ quotes(symbols: ["SPY"]) { rows { symbol } } }', extensions: { operationId: id } });
    const added = await send('POST', key, token, operation('one'));
    expect([added.status, added.headers.get('x-ratelimit-limit')]).toEqual([202, '1000000']);
    expect(await reader.next()).toMatchObject({
      event: 'next',
      data: { id: 'one', payload: { data: { quotes: { rows: [{ symbol: 'SPY' }] } } } },
    });
    expect(await reader.next()).toMatchObject({ event: 'complete', data: { id: 'one' } });
    expect((await send('POST', key, token, '{}')).status).toBe(400);
    expect((await send('PATCH', key, token)).status).toBe(405);
    timers.beat();
    await expect.poll(() => reader.comments).toHaveLength(2);
    reader.leave();
    await nothingLeft();
    expect((await send('POST', key, token, operation('two'))).status).toBe(404);
  });

  const together = (key: string, operations: unknown) =>
    readEvents(at(), {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ operations }),
    });
  const asked = (operationId: string, query: string) => ({ query, extensions: { operationId } });

  test('brings several operations in one request, each told under its id; a refused one leaves the others', async () => {
    const reader = await together(await app.key({ apiTier: 'free', classification: null }), [
      asked('spy', quoteOf('SPY')),
      asked('trades', 'subscription { largeTrades(minPremiumUsd: 0) { seq } }'),
      asked('now', '{ quotes(symbols: ["AAPL"]) { rows { symbol } } }'),
      asked('aapl', quoteOf('AAPL')),
    ]);
    expect([reader.status, reader.headers['x-ratelimit-limit']]).toEqual([200, '1000000']);
    await expect.poll(() => reader.events.length).toBe(6);
    const of = (id: string) => reader.events.filter(({ data }) => data.id === id).map(({ data }) => data.payload);
    expect(of('spy')).toMatchObject([{ data: { quotes: { symbol: 'SPY' } } }]);
    expect(of('aapl')).toMatchObject([{ data: { quotes: { symbol: 'AAPL' } } }]);
    expect(of('now')).toMatchObject([{ data: { quotes: { rows: [{ symbol: 'AAPL' }] } } }, undefined]);
    expect(of('trades')[0].errors[0].extensions.code).toBe('not_entitled_tier');
    await trade(app.store, { SPY: 777 }, nowMs - 500);
    await expect.poll(() => of('spy').at(-1)).toEqual({ data: { quotes: { symbol: 'SPY', spot: 777 } } });
    reader.leave();
    await nothingLeft();
  });

  test('costs the points of its subscriptions together, not a request for each', async () => {
    const key = await app.key({ apiTier: 'free' });
    const left = async () =>
      Number((await app.get('/v2/account/usage', { credential: key })).headers['x-ratelimit-remaining']);
    const before = await left();
    const reader = await together(
      key,
      ['SPY', 'AAPL', 'QQQ'].map((symbol) => asked(symbol, quoteOf(symbol))),
    );
    // Three times 2.6 points and what they are written in; the stream and what asks what is left are a request each.
    expect(before - (await left())).toBe(1 + 1);
    reader.leave();
    await nothingLeft();
  });

  test('ends once all of its operations have, and says what is wrong with a request', async () => {
    const key = await app.key();
    const reader = await together(key, [asked('one', '{ quotes(symbols: ["SPY"]) { rows { symbol } } }')]);
    await reader.over;
    expect(reader.events.map(({ event }) => event)).toEqual(['next', 'complete']);
    for (const operations of [
      undefined,
      [],
      [asked('a', '{ x }'), asked('a', '{ x }')],
      Array(21).fill(asked('a', '{ x }')),
    ])
      expect((await together(key, operations)).status).toBe(400);
    await nothingLeft();
  });
});
