import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Json, type TestApp, testApp } from '../support/app.ts';
import { type EventReader, subscribe } from '../support/event-reader.ts';
import { coverage, largeTrade, leg, storeLargeTrades } from '../support/flow.ts';
import { type HandTimers, handTimers, trade } from '../support/live.ts';
import { storeDays } from '../support/market.ts';

// Friday 2026-11-20, 12:00 in New York.
const nowMs = Date.parse('2026-11-20T17:00Z');
let app: TestApp;
let timers: HandTimers;

beforeAll(async () => {
  timers = handTimers();
  app = await testApp({ nowMs, every: timers.every, env: { MAX_STREAMS: '3' } });
  for (const symbol of ['SPY', 'AAPL', 'NVDA', 'XSP'])
    await storeDays(app.store, symbol, { '2026-11-18': 500, '2026-11-19': 600 });
});
afterAll(() => app.close());

const quotesOf =
  'subscription Q($symbols: [Ticker!]!) { quotes(symbols: $symbols) { symbol spot changePct volume eventTsMs } }';
const tradesOf = `subscription T($symbol: Ticker, $least: Float) {
  largeTrades(symbol: $symbol, minPremiumUsd: $least) { symbol seq coverage { status } update { event { eventId premiumUsd totalSize } } } }`;

async function data(reader: EventReader): Promise<Json> {
  const event = await reader.next();
  expect(event).toMatchObject({ event: 'next' });
  expect(event!.data.errors).toBeUndefined();
  return event!.data.data;
}

/** Resolves once streams hold nothing more: sockets take their time. */
async function nothingLeft(): Promise<void> {
  await expect.poll(() => app.live.counts()).toEqual({ streams: 0, topics: 0 });
}

describe('quotes', () => {
  test('come as they stand, then whenever they change, by the headers of a stream', async () => {
    const reader = await subscribe(app.url, await app.key(), quotesOf, { symbols: ['spy', 'AAPL'] });
    expect(reader.status).toBe(200);
    expect(reader.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-ratelimit-limit': '1000000',
    });
    const first = [await data(reader), await data(reader)];
    expect(first.map((each) => each.quotes.symbol).sort()).toEqual(['AAPL', 'SPY']);
    expect(first[0].quotes).toMatchObject({ spot: 600, changePct: 20, eventTsMs: null });
    await trade(app.store, { SPY: 606 }, nowMs - 1000, 7);
    expect(await data(reader)).toEqual({
      quotes: { symbol: 'SPY', spot: 606, changePct: 1, volume: 7, eventTsMs: nowMs - 1000 },
    });
    reader.leave();
    await nothingLeft();
  });

  test('are told once where nothing changed, whatever is announced', async () => {
    const reader = await subscribe(app.url, await app.key(), quotesOf, { symbols: ['AAPL'] });
    await data(reader);
    await trade(app.store, { SPY: 610 }, nowMs - 900);
    timers.sweep();
    await trade(app.store, { AAPL: 601 }, nowMs - 800);
    expect((await data(reader)).quotes).toMatchObject({ symbol: 'AAPL', spot: 601 });
    expect(reader.events).toHaveLength(2);
    reader.leave();
  });

  test('later than the clock come when they are due', async () => {
    const reader = await subscribe(app.url, await app.key(), quotesOf, { symbols: ['NVDA'] });
    expect((await data(reader)).quotes.spot).toBe(600);
    await trade(app.store, { NVDA: 612 }, nowMs + 60_000);
    app.clock.nowMs = nowMs + 60_000;
    timers.sweep();
    expect((await data(reader)).quotes.spot).toBe(612);
    app.clock.nowMs = nowMs;
    reader.leave();
  });

  test('of what may not be read are empty, and refused when that is all of them', async () => {
    const free = await app.key({ apiTier: 'free' });
    const reader = await subscribe(app.url, free, quotesOf, { symbols: ['NVDA', 'SPY'] });
    const rows = [(await data(reader)).quotes, (await data(reader)).quotes];
    expect(rows.map(({ symbol, spot }) => [symbol, spot === null])).toEqual([
      ['NVDA', true],
      ['SPY', false],
    ]);
    reader.leave();
    for (const [symbol, account, code] of [
      ['NVDA', { apiTier: 'free' }, 'not_entitled_tier'],
      ['XSP', { classification: null }, 'attestation_required'],
    ] as const) {
      const refused = await subscribe(app.url, await app.key(account), quotesOf, { symbols: [symbol] });
      const event = await refused.next();
      expect(event!.data.errors[0].extensions.code).toBe(code);
      await refused.over;
    }
    await nothingLeft();
  });

  test('need a credential, a caller who reads streams, and symbols', async () => {
    const none = await subscribe(app.url, null, quotesOf, { symbols: ['SPY'] });
    expect(none.status).toBe(401);
    const answer = await app.graphql(quotesOf, { symbols: ['SPY'] }, { headers: { accept: 'application/json' } });
    expect(answer.errors![0]).toMatchObject({
      message: 'A subscription needs an event stream: send Accept: text/event-stream.',
      extensions: { code: 'invalid_params' },
    });
    const empty = await subscribe(app.url, await app.key(), quotesOf, { symbols: [] });
    expect((await empty.next())!.data.errors[0]).toMatchObject({ extensions: { code: 'invalid_params' } });
    await nothingLeft();
  });
});

const contract = 'O:SPY261218C00600000';
const event = (seq: number, size: number, atMs: number, at = contract) =>
  largeTrade([leg(at, atMs, { size, sequence: seq })], seq, coverage('2026-11-20', 720));

describe('largeTrades', () => {
  test('come as they are detected, by symbol and premium', async () => {
    await storeLargeTrades(app.store, [event(1, 1000, nowMs - 60_000)]);
    const key = await app.key();
    const all = await subscribe(app.url, await app.session(), tradesOf);
    const large = await subscribe(app.url, key, tradesOf, { symbol: 'SPY', least: 300_000 });
    const other = await subscribe(app.url, key, tradesOf, { symbol: 'AAPL' });
    await storeLargeTrades(app.store, [event(2, 1100, nowMs - 50_000), event(3, 2000, nowMs - 40_000)]);
    await storeLargeTrades(app.store, [event(4, 1500, nowMs - 30_000, 'O:AAPL261218P00200000')]);
    const seqs = async (reader: EventReader, count: number) => {
      const found = [];
      for (let i = 0; i < count; i++) found.push((await data(reader)).largeTrades.seq);
      return found;
    };
    expect(await seqs(all, 3)).toEqual([2, 3, 4]);
    expect(await seqs(large, 1)).toEqual([3]);
    expect(await seqs(other, 1)).toEqual([4]);
    for (const reader of [all, large, other]) reader.leave();
    await nothingLeft();
  });

  test('need the pro tier and the declaration', async () => {
    for (const [account, code] of [
      [{ apiTier: 'basic' }, 'not_entitled_tier'],
      [{ classification: 'professional' }, 'attestation_required'],
    ] as const) {
      const reader = await subscribe(app.url, await app.key(account), tradesOf, { symbol: 'SPY' });
      expect((await reader.next())!.data.errors[0].extensions.code).toBe(code);
    }
    const unknown = await subscribe(app.url, await app.key(), tradesOf, { symbol: 'QQQQ' });
    expect((await unknown.next())!.data.errors[0].extensions.code).toBe('not_found');
  });
});

describe('a stream', () => {
  test('says that it is alive', async () => {
    const reader = await subscribe(app.url, await app.key(), quotesOf, { symbols: ['SPY'] });
    await data(reader);
    timers.beat();
    await expect.poll(() => reader.comments).toEqual([':', ':']);
    reader.leave();
  });

  test('is one of so many at a time', async () => {
    const key = await app.key();
    const readers = await Promise.all([0, 1, 2].map(() => subscribe(app.url, key, quotesOf, { symbols: ['SPY'] })));
    for (const reader of readers) await data(reader);
    const fourth = await subscribe(app.url, key, quotesOf, { symbols: ['SPY'] });
    expect(fourth.status).toBe(429);
    expect((await fourth.next())!.data.errors[0]).toMatchObject({
      message: 'At most 3 streams at a time with one credential.',
      extensions: { code: 'rate_limited' },
    });
    readers[0]!.leave();
    await expect.poll(() => app.live.counts().streams).toBe(2);
    const fifth = await subscribe(app.url, key, quotesOf, { symbols: ['SPY'] });
    await data(fifth);
    for (const reader of [...readers, fifth]) reader.leave();
    await nothingLeft();
  });

  test('ends when its key is revoked, and when the account may not read it any more', async () => {
    const accountId = await app.account();
    const made = await app.access.keys.create({ accountId, name: null, expiresAt: null });
    const reader = await subscribe(app.url, made.key, quotesOf, { symbols: ['SPY'] });
    await data(reader);
    timers.recheck();
    await app.access.keys.revoke(made.meta.id, null);
    timers.recheck();
    expect((await reader.next())!.data.errors[0].extensions).toEqual({
      code: 'unauthenticated',
      reason: 'not_entitled',
    });
    expect(await reader.next()).toEqual({ event: 'complete', id: undefined, data: '' });
    await reader.over;

    const other = await app.account();
    const { key } = await app.access.keys.create({ accountId: other, name: null, expiresAt: null });
    const trades = await subscribe(app.url, key, tradesOf, { symbol: 'SPY' });
    const quotes = await subscribe(app.url, key, quotesOf, { symbols: ['SPY'] });
    await data(quotes);
    await app.access.accounts.set(other, { apiTier: 'basic' });
    timers.recheck();
    expect((await trades.next())!.data.errors[0].extensions).toMatchObject({
      code: 'not_entitled_tier',
      reason: 'not_entitled',
    });
    // Symbols that a lower tier may read continue.
    await trade(app.store, { SPY: 620 }, nowMs - 500);
    expect((await data(quotes)).quotes.spot).toBe(620);
    quotes.leave();
    await nothingLeft();
  });

  test('of a site session ends with it', async () => {
    const token = await app.session();
    const reader = await subscribe(app.url, token, quotesOf, { symbols: ['SPY'] });
    await data(reader);
    app.clock.nowMs = nowMs + 3_700_000;
    timers.recheck();
    const last = await reader.next();
    app.clock.nowMs = nowMs;
    expect(last!.data.errors[0].extensions).toEqual({ code: 'token_expired', reason: 'not_entitled' });
    await reader.over;
  });
});
