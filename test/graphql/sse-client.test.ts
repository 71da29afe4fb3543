import { type Client, createClient } from 'graphql-sse';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Json, type TestApp, testApp } from '../support/app.ts';
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

function clientOf(credential: string, on = app): Client {
  const client = createClient({
    url: `${on.url}/graphql`,
    headers: { authorization: `Bearer ${credential}` },
    retryAttempts: 0,
  });
  onTestFinished(() => client.dispose());
  return client;
}

/** Follows a subscription; `said` holds its messages so far. */
function follow(client: Client, query: string) {
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

describe('the graphql-sse client, a connection for each subscription,', () => {
  test('is told what changes, of several subscriptions, until it leaves', async () => {
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
    expect(spy.said).toHaveLength(2);
    aapl.stop();
    client.dispose();
    await nothingLeft();
  });

  test('is told why a subscription is refused, and why one ends', async () => {
    const accountId = await app.account();
    const { key } = await app.access.keys.create({ accountId, name: null, expiresAt: null });
    const client = clientOf(key);
    const trades = follow(client, 'subscription { largeTrades(minPremiumUsd: 0) { seq } }');
    const quotes = follow(client, quoteOf('SPY'));
    await expect.poll(() => quotes.said.length).toBe(1);
    await expect.poll(() => app.live.counts()).toEqual({ streams: 2, topics: 2 });
    await app.access.accounts.set(accountId, { apiTier: 'free' });
    timers.recheck();
    await trades.done;
    expect(trades.said.at(-1).errors[0].extensions).toMatchObject({
      code: 'not_entitled_tier',
      reason: 'not_entitled',
    });
    client.dispose();
    await nothingLeft();
  });

  test('is told when the server stops', async () => {
    const stopping = await testApp({ store: app.store, nowMs });
    const client = clientOf(await stopping.key(), stopping);
    const quotes = follow(client, quoteOf('SPY'));
    await expect.poll(() => quotes.said.length).toBe(1);
    stopping.live.close();
    await quotes.done;
    expect(quotes.said.at(-1).errors[0].extensions).toEqual({ code: 'internal', reason: 'shutdown' });
    await expect.poll(() => stopping.live.counts().streams).toBe(0);
  });
});
