import { ApolloClient, gql, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { subscriptionExchange, Client as UrqlClient } from '@urql/core';
import { type Client, createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { type Json, type TestApp, testApp } from '../support/app.ts';
import { type HandTimers, handTimers, trade } from '../support/live.ts';
import { storeDays } from '../support/market.ts';
import { talk } from '../support/web-socket.ts';

const nowMs = Date.parse('2026-11-20T17:00Z');
let app: TestApp;
let timers: HandTimers;

beforeAll(async () => {
  timers = handTimers();
  app = await testApp({ nowMs, every: timers.every });
  for (const symbol of ['SPY', 'AAPL']) await storeDays(app.store, symbol, { '2026-11-18': 500, '2026-11-19': 600 });
});
afterAll(() => app.close());

const protocol = 'graphql-transport-ws';
const quoteOf = (symbol: string) => `subscription { quotes(symbols: ["${symbol}"]) { symbol spot } }`;
const page = '{ quotes(symbols: ["SPY"]) { rows { symbol officialClose } } }';
// A client that is not read any more has a second for its last words.
const nothingLeft = () => expect.poll(() => app.live.counts()).toEqual({ streams: 0, topics: 0 });

function clientOf(credential: string, on = app, connectionParams?: Record<string, unknown>): Client {
  const client = createClient({
    url: `${on.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: connectionParams ?? { Authorization: `Bearer ${credential}` },
    retryAttempts: 0,
    // It closes when it has nothing to follow, and each connection costs a request.
    lazyCloseTimeout: 60_000,
  });
  onTestFinished(async () => void (await client.dispose()));
  return client;
}

/** Follows an operation; `said` holds its messages so far. */
function follow(client: Client, query: string) {
  const said: Json[] = [];
  const done = Promise.withResolvers<void>();
  const stop = client.subscribe(
    { query },
    { next: (message) => said.push(message), error: done.reject, complete: done.resolve },
  );
  const over = done.promise.then(
    () => null,
    (error: Json) => error,
  );
  return { said, stop, over };
}

describe('the graphql-ws client', () => {
  test('gets what changes, of several subscriptions on one connection, until it leaves', async () => {
    const client = clientOf(await app.key());
    const spy = follow(client, quoteOf('SPY'));
    const aapl = follow(client, quoteOf('AAPL'));
    await expect.poll(() => [spy.said.length, aapl.said.length]).toEqual([1, 1]);
    await trade(app.store, { SPY: 700 }, nowMs - 1000);
    await expect.poll(() => spy.said.at(-1)).toEqual({ data: { quotes: { symbol: 'SPY', spot: 700 } } });
    spy.stop();
    await expect.poll(() => app.live.counts().topics).toBe(1);
    await trade(app.store, { AAPL: 700 }, nowMs - 900);
    await expect.poll(() => aapl.said.at(-1).data.quotes.spot).toBe(700);
    expect([spy.said.length, await spy.over]).toEqual([2, null]);
    aapl.stop();
    await client.dispose();
    await nothingLeft();
  });

  test.each([
    ['X-API-Key', (key: string) => ({ 'X-API-Key': key })],
    ['headers', (key: string) => ({ headers: { authorization: `bearer ${key}` } })],
  ])('may send its credential as %s', async (_name, params) => {
    const key = await app.key();
    const client = clientOf('', app, params(key));
    const asked = follow(client, page);
    expect(await asked.over).toBeNull();
    expect(asked.said[0].data.quotes.rows).toEqual([{ symbol: 'SPY', officialClose: 600 }]);
  });

  test('pays for queries what POST takes for them, and gets the errors that POST gives', async () => {
    const [key, other] = [await app.key({ apiTier: 'free' }), await app.key({ apiTier: 'free' })];
    const left = async (credential: string) =>
      Number((await app.get('/v2/symbols', { credential })).headers['x-ratelimit-remaining']);
    const client = clientOf(key);
    for (const query of [
      page,
      '{ nothing }',
      '{ symbol(symbol: "NVDA") { quote { spot } } }',
      '{ largeTrades { meta { count } } }',
    ]) {
      const asked = follow(client, query);
      const error = await asked.over;
      const [result] = error === null ? asked.said : [{ errors: error }];
      const { answer: _answer, ...posted } = await app.graphql(query, {}, { credential: other });
      const { cost, ...rest } = result.extensions ?? {};
      const { cost: postedCost, ...postedRest } = posted.extensions ?? {};
      expect({ ...result, extensions: rest }).toEqual({ ...posted, extensions: postedRest });
      expect({ ...cost, remaining: 0 }).toEqual({ ...postedCost, remaining: 0 });
    }
    // The connection itself is one request.
    expect(await left(key)).toBe((await left(other)) - 1);
  });

  test('gets the error of a subscription that is refused, and of one that ends, while others go on', async () => {
    const accountId = await app.account();
    const { key } = await app.access.keys.create({ accountId, name: null, expiresAt: null });
    const client = clientOf(key);
    const trades = follow(client, 'subscription { largeTrades(minPremiumUsd: 0) { seq } }');
    const quotes = follow(client, quoteOf('SPY'));
    await expect.poll(() => quotes.said.length).toBe(1);
    await expect.poll(() => app.live.counts().topics).toBe(2);
    await app.access.accounts.set(accountId, { apiTier: 'free' });
    timers.recheck();
    expect(await trades.over).toMatchObject([{ extensions: { code: 'not_entitled_tier', reason: 'not_entitled' } }]);
    const refused = follow(client, 'subscription { largeTrades(symbol: "SPY") { seq } }');
    expect(await refused.over).toMatchObject([{ extensions: { code: 'not_entitled_tier' } }]);
    const filterless = follow(clientOf(await app.key()), 'subscription { largeTrades { seq } }');
    expect(await filterless.over).toMatchObject([{ extensions: { code: 'invalid_params' } }]);
    await trade(app.store, { SPY: 710 }, nowMs - 800);
    await expect.poll(() => quotes.said.at(-1).data.quotes.spot).toBe(710);
  });

  test('is closed with 4401 when its key is revoked, and with 4401 when it never had one', async () => {
    const accountId = await app.account();
    const { key, meta } = await app.access.keys.create({ accountId, name: null, expiresAt: null });
    const client = clientOf(key);
    const quotes = follow(client, quoteOf('SPY'));
    await expect.poll(() => quotes.said.length).toBe(1);
    await app.access.keys.revoke(meta.id, accountId);
    timers.recheck();
    expect(await quotes.over).toMatchObject({ code: 4401, reason: 'The API key or session token is not valid.' });
    expect(await follow(clientOf('tg_live_wrong'), page).over).toMatchObject({ code: 4401 });
    expect(await follow(clientOf('', app, {}), page).over).toMatchObject({ code: 4401 });
    await nothingLeft();
  });

  test('connects again by itself when the server stops', async () => {
    const stopping = await testApp({ store: app.store, nowMs });
    const client = clientOf(await stopping.key(), stopping);
    const quotes = follow(client, quoteOf('SPY'));
    await expect.poll(() => quotes.said.length).toBe(1);
    stopping.live.drain();
    // With its retries on, which are off here, 1001 is no error to it.
    expect(await quotes.over).toMatchObject({ code: 1001, reason: 'The server is shutting down; reconnect.' });
    await expect.poll(() => stopping.live.counts().streams).toBe(0);
    stopping.live.close();
  });

  test('has as many connections as streams, whatever they follow, and is told to try again later beyond them', async () => {
    const small = await testApp({ store: app.store, nowMs, env: { MAX_STREAMS: '2' } });
    const key = await small.key();
    for (const client of [clientOf(key, small), clientOf(key, small)]) {
      const following = ['SPY', 'AAPL', 'QQQ'].map((symbol) => follow(client, quoteOf(symbol)));
      await expect.poll(() => following.map(({ said }) => said.length)).toEqual([1, 1, 1]);
    }
    expect(await follow(clientOf(key, small), page).over).toMatchObject({ code: 1013 });
    small.live.close();
  });

  test('pays the points of its subscriptions together, the first ten with the connection, and not twice', async () => {
    const key = await app.key({ apiTier: 'free' });
    const left = async () =>
      Number((await app.get('/v2/account/usage', { credential: key })).headers['x-ratelimit-remaining']);
    const before = await left();
    const client = clientOf(key);
    const followed = async () => {
      const following = ['SPY', 'AAPL', 'QQQ'].map((symbol) => follow(client, quoteOf(symbol)));
      await expect.poll(() => following.every(({ said }) => said.length > 0)).toBe(true);
    };
    // 2.6 points each, and what they are written in: three are less than ten. What asks what is left is a request too.
    await followed();
    expect(before - (await left())).toBe(1 + 1);
    await followed();
    expect(before - (await left())).toBe(2 + 2);
  });
});

test("Apollo's GraphQLWsLink follows a subscription", async () => {
  const link = new GraphQLWsLink(clientOf(await app.key()) as never);
  const apollo = new ApolloClient({ link, cache: new InMemoryCache() });
  onTestFinished(() => apollo.stop());
  const said: Json[] = [];
  const following = apollo
    .subscribe({ query: gql('subscription { quotes(symbols: ["SPY"]) { symbol spot } }') })
    .subscribe({ next: (message) => said.push(message) });
  await expect.poll(() => said.length).toBe(1);
  await trade(app.store, { SPY: 720 }, nowMs - 700);
  await expect.poll(() => said.at(-1).data.quotes.spot).toBe(720);
  following.unsubscribe();
  await expect.poll(() => app.live.counts().topics).toBe(0);
});

test("urql's subscription exchange follows a subscription", async () => {
  const client = clientOf(await app.key());
  const urql = new UrqlClient({
    url: `${app.url}/graphql`,
    preferGetMethod: false,
    exchanges: [
      subscriptionExchange({
        forwardSubscription: ({ query, variables }) => ({
          subscribe: (sink) => ({
            unsubscribe: client.subscribe({ query: query!, variables: variables as never }, sink as never),
          }),
        }),
      }),
    ],
  });
  const said: Json[] = [];
  const { unsubscribe } = urql.subscription(quoteOf('SPY'), {}).subscribe((message) => said.push(message));
  await expect.poll(() => said.length).toBe(1);
  await trade(app.store, { SPY: 730 }, nowMs - 600);
  await expect.poll(() => said.at(-1).data.quotes.spot).toBe(730);
  unsubscribe();
  await expect.poll(() => app.live.counts().topics).toBe(0);
});

// JSON.parse reads it, and JSON.stringify overflows the stack.
const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;

describe('a client that breaks the protocol', () => {
  const connect = async (on = app) => {
    const talking = talk(`${on.url}/graphql`, [protocol]);
    await talking.open;
    return talking;
  };
  const greeted = async (key: string) => {
    const talking = await connect();
    talking.send({ type: 'connection_init', payload: { Authorization: `Bearer ${key}` } });
    await expect.poll(() => talking.said).toEqual([{ type: 'connection_ack' }]);
    return talking;
  };

  test.each([
    ['greets twice', 4429, [{ type: 'connection_init' }, { type: 'connection_init' }]],
    ['subscribes before it greets', 4401, [{ id: '1', type: 'subscribe', payload: { query: '{ __typename }' } }]],
    ['sends what is no JSON', 4400, ['{']],
    ['sends an unknown type', 4400, [{ type: 'shout' }]],
    ['sends bytes', 4400, [Buffer.from([0, 1, 2, 255])]],
    ['sends a ping with what is nested too deep', 4400, [`{"type":"ping","payload":{"a":${deep}}}`]],
    ['sends two megabytes', 1009, [JSON.stringify({ type: 'ping', payload: { a: 'x'.repeat(2_000_000) } })]],
  ])('and %s is closed with %i', async (_name, code, messages) => {
    const talking = await connect();
    for (const message of messages) talking.send(message);
    // The first of two greetings without a credential may be rejected before the second is read.
    const closed = await talking.closed;
    expect(code === 4429 ? [4429, 4401] : [code]).toContain(closed.code);
    await nothingLeft();
  });

  test('and greets twice with a credential is closed with 4429; and uses an id twice, with 4409', async () => {
    const key = await app.key();
    const twice = await greeted(key);
    twice.send({ type: 'connection_init' });
    expect(await twice.closed).toMatchObject({ code: 4429 });
    const same = await greeted(key);
    for (const _ of [1, 2]) same.send({ id: 'a', type: 'subscribe', payload: { query: quoteOf('SPY') } });
    expect(await same.closed).toMatchObject({ code: 4409 });
    await nothingLeft();
  });

  test('and speaks another subprotocol is closed with 4406', async () => {
    const talking = talk(`${app.url}/graphql`);
    expect(await talking.closed).toMatchObject({ code: 4406 });
    await nothingLeft();
  });

  test('and floods is closed with 1008, having been charged for each subscription', async () => {
    const key = await app.key();
    const talking = await greeted(key);
    for (let i = 0; i < 1200; i++) talking.send({ type: 'ping' });
    expect(await talking.closed).toMatchObject({ code: 1008 });
    const small = await testApp({ store: app.store, nowMs, env: { RATE_FREE: '20' } });
    const free = await small.key({ apiTier: 'free' });
    const flooding = talk(`${small.url}/graphql`, [protocol]);
    await flooding.open;
    flooding.send({ type: 'connection_init', payload: { Authorization: `Bearer ${free}` } });
    await expect.poll(() => flooding.said.length).toBe(1);
    for (let i = 0; i < 200; i++) {
      flooding.send({ id: `${i}`, type: 'subscribe', payload: { query: quoteOf('SPY') } });
      flooding.send({ id: `${i}`, type: 'complete' });
    }
    flooding.send({ id: 'last', type: 'subscribe', payload: { query: quoteOf('SPY') } });
    await expect
      .poll(() => flooding.said.find(({ id }) => id === 'last'))
      .toMatchObject({
        type: 'error',
        payload: [{ extensions: { code: 'rate_limited' } }],
      });
    expect((await small.get('/v2/symbols', { credential: free })).status).toBe(429);
    flooding.socket.terminate();
    await expect.poll(() => small.live.counts()).toEqual({ streams: 0, topics: 0 });
    small.live.close();
  });

  test('and answers no pings is closed after three', async () => {
    const talking = await greeted(await app.key());
    talking.socket.pause();
    for (let i = 0; i < 3; i++) timers.beat();
    expect(app.live.counts().streams).toBe(1);
    timers.beat();
    talking.socket.resume();
    expect(await talking.closed).toMatchObject({ code: 1001 });
    await nothingLeft();
    const answering = await greeted(await app.key());
    for (let i = 0; i < 5; i++) {
      const ponged = new Promise((resolve) => answering.socket.once('ping', resolve));
      timers.beat();
      await ponged;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(answering.socket.readyState).toBe(WebSocket.OPEN);
    answering.socket.terminate();
  });
});
