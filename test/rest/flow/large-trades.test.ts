import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { type Json, type TestApp, testApp } from '../../support/app.ts';
import { coverage, largeTrade, leg, storeLargeTrades } from '../../support/flow.ts';

// Friday 2026-11-20, 12:00 in New York.
const nowMs = Date.parse('2026-11-20T17:00Z');
const path = '/v2/flow/large-trades';
const call = 'O:SPY261218C00600000';
const put = 'O:SPY261218P00580000';
const today = coverage('2026-11-20', 715);
const yesterday = coverage('2026-11-19', 960, { status: 'eod_reconciled', complete: true });
const at = (session: string, minute: number) => exchangeInstant(session, minute);

let app: TestApp;
let session: string;
let empty: TestApp;

const spread = largeTrade(
  [
    leg(call, at('2026-11-20', 601), { price: 3, size: 600, multiLeg: true, conditions: [232, 209], sequence: 11 }),
    leg(put, at('2026-11-20', 601) + 5, { price: 1.5, size: 600, multiLeg: true, conditions: [], sequence: 12 }),
  ],
  42,
  today,
  { eventKind: 'multi_leg', side: 'unknown' },
);

beforeAll(async () => {
  app = await testApp({ nowMs });
  empty = await testApp({ nowMs });
  session = await app.session();
  await storeLargeTrades(app.store, [
    largeTrade([leg(call, at('2026-11-19', 730), { price: 5 })], 3, yesterday),
    // Two of one instant: the later seq comes first.
    largeTrade([leg(call, at('2026-11-20', 600), { sequence: 8 })], 40, today),
    largeTrade([leg(call, at('2026-11-20', 600), { sequence: 9 })], 41, today),
    spread,
    largeTrade([leg('O:AAPL261218C00250000', at('2026-11-20', 602), { price: 1.2 })], 1, coverage('2026-11-20', 715)),
    largeTrade([leg('O:SPXW261120C06000000', at('2026-11-20', 603))], 1, coverage('2026-11-20', 715)),
    // Later than the server's clock.
    largeTrade([leg(call, nowMs + 1)], 99, today),
  ]);
});
afterEach(() => {
  app.clock.nowMs = nowMs;
});
afterAll(() => Promise.all([app.close(), empty.close()]));

const symbols = (body: Json) => body.data.events.map((event: Json) => event.symbol);
const seqs = (body: Json) => body.data.events.map((event: Json) => event.seq);

describe('GET /v2/flow/large-trades', () => {
  test('gives an event key for key, with its legs and coverage', async () => {
    const { status, body, headers } = await app.get(`${path}?symbol=spy&limit=1`);
    expect(status).toBe(200);
    expect(body).toStrictEqual({
      data: {
        events: [
          {
            symbol: 'SPY',
            seq: 42,
            coverage: {
              status: 'observed_live',
              complete: false,
              session_date: '2026-11-20',
              observed_from_ms: at('2026-11-20', 570),
              observed_through_ms: at('2026-11-20', 715),
              registry_version: 1,
              standard_multiplier_assumed: true,
            },
            update: {
              kind: 'big_trade',
              event: {
                event_id: `multi_leg:${call}:${at('2026-11-20', 601)}:11`,
                event_kind: 'multi_leg',
                underlying: 'SPY',
                event_ts_ms: at('2026-11-20', 601),
                legs: [
                  {
                    contract: { underlying: 'SPY', expiry: '2026-12-18', right: 'call', strike: 600_000 },
                    price: 3,
                    size: 600,
                    premium_usd: 180_000,
                    exchange: 302,
                    conditions: [232, 209],
                    event_ts_ms: at('2026-11-20', 601),
                    sequence: 11,
                    side: 'buy_inferred',
                    multi_leg: true,
                  },
                  {
                    contract: { underlying: 'SPY', expiry: '2026-12-18', right: 'put', strike: 580_000 },
                    price: 1.5,
                    size: 600,
                    premium_usd: 90_000,
                    exchange: 302,
                    conditions: [],
                    event_ts_ms: at('2026-11-20', 601) + 5,
                    sequence: 12,
                    side: 'buy_inferred',
                    multi_leg: true,
                  },
                ],
                total_size: 1200,
                premium_usd: 270_000,
                price_low: 1.5,
                price_high: 3,
                side: 'unknown',
                multi_leg: true,
              },
            },
          },
        ],
      },
      meta: {
        caps: { applied: [], tier: 'pro' },
        count: 1,
        limit: 1,
        retention: 'intraday_24h',
        plane: 'live',
        read_at_ms: app.clock.nowMs,
      },
    });
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['x-ratelimit-limit']).toBeDefined();
  });

  test('without session gives about a day, newest first, the later seq first at one instant', async () => {
    const { body } = await app.get(`${path}?symbol=SPY`);
    expect(seqs(body)).toEqual([42, 41, 40, 3]);
    expect(body.meta).toMatchObject({ count: 4, limit: 100, retention: 'intraday_24h' });
    app.clock.nowMs = at('2026-11-20', 731);
    expect(seqs((await app.get(`${path}?symbol=SPY`)).body)).toEqual([99, 42, 41, 40]);
    const all = await app.get(path, { credential: session });
    expect(symbols(all.body)).toEqual(['SPY', 'SPX', 'AAPL', 'SPY', 'SPY', 'SPY']);
  });

  test('session keeps one session; a sealed one carries a tag and answers it with 304', async () => {
    const { body, headers } = await app.get(`${path}?symbol=SPY&session=2026-11-19`);
    expect(seqs(body)).toEqual([3]);
    expect(body.data.events[0].coverage).toMatchObject({ status: 'eod_reconciled', complete: true });
    expect(body.meta).toMatchObject({ plane: 'archive', retention: 'stored_session' });
    const again = await app.get(`${path}?symbol=SPY&session=2026-11-19`, {
      headers: { 'if-none-match': headers.etag! },
    });
    expect(again.status).toBe(304);
    expect(seqs((await app.get(`${path}?symbol=SPY&session=2026-11-20`)).body)).toEqual([42, 41, 40]);
  });

  test('min_premium_usd keeps events of at least that premium, and is applied before limit', async () => {
    expect(seqs((await app.get(`${path}?symbol=SPY&min_premium_usd=270000`)).body)).toEqual([42, 3]);
    expect(seqs((await app.get(`${path}?symbol=SPY&min_premium_usd=270000.01`)).body)).toEqual([3]);
    expect(seqs((await app.get(`${path}?symbol=SPY&min_premium_usd=300000&limit=1`)).body)).toEqual([3]);
  });

  test('without symbol gives all underlyings; a weekly root counts under its ticker', async () => {
    const { body } = await app.get(path, { credential: session });
    expect(symbols(body)).toEqual(['SPX', 'AAPL', 'SPY', 'SPY', 'SPY', 'SPY']);
    expect(body.data.events[0].update.event.legs[0].contract.underlying).toBe('SPXW');
    expect(symbols((await app.get(`${path}?min_premium_usd=150000`)).body)).toEqual([
      'SPX',
      'SPY',
      'SPY',
      'SPY',
      'SPY',
    ]);
  });

  test('nothing later than the clock is served, and no coverage speaks of it', async () => {
    app.clock.nowMs = at('2026-11-19', 731);
    const { body } = await app.get(`${path}?symbol=SPY`);
    expect(seqs(body)).toEqual([3]);
    expect(body.data.events[0].coverage).toMatchObject({
      status: 'observed_live',
      complete: false,
      observed_through_ms: at('2026-11-19', 731),
    });
  });

  test('a live event never claims to be complete, whatever was stored', async () => {
    const covered = coverage('2026-11-18', 960, { complete: true });
    await storeLargeTrades(app.store, [largeTrade([leg('O:XOM261218C00120000', at('2026-11-18', 600))], 1, covered)]);
    const { body } = await app.get(`${path}?symbol=XOM&session=2026-11-18`);
    expect(body.data.events[0].coverage).toMatchObject({ status: 'observed_live', complete: false });
  });

  test('a limit above the maximum is clamped and reported: 100 for keys, 200 for sessions', async () => {
    const key = await app.get(`${path}?symbol=SPY&limit=101`);
    expect(key.body.meta).toMatchObject({ limit: 100, limit_clamped: true, caps: { applied: ['limit_clamped'] } });
    const held = await app.get(`${path}?limit=200`, { credential: session });
    expect(held.body.meta).toMatchObject({ limit: 200, caps: { applied: [] } });
    expect(held.body.meta).not.toHaveProperty('limit_clamped');
    const over = await app.get(`${path}?limit=201`, { credential: session });
    expect(over.body.meta).toMatchObject({ limit: 200, limit_clamped: true });
  });

  test('no qualifying trades: 200 with an empty list', async () => {
    const { status, body } = await empty.get(`${path}?symbol=SPY`);
    expect(status).toBe(200);
    expect(body).toStrictEqual({
      data: { events: [] },
      meta: {
        caps: { applied: [], tier: 'pro' },
        count: 0,
        limit: 100,
        retention: 'intraday_24h',
        plane: 'live',
        read_at_ms: app.clock.nowMs,
      },
    });
  });

  test('400: a key that sends neither symbol nor min_premium_usd', async () => {
    const { status, body } = await app.get(`${path}?session=2026-11-19`);
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code: 'invalid_params', details: { parameter: 'symbol' } });
    expect((await app.get(`${path}?min_premium_usd=0`)).status).toBe(200);
  });

  test.each([
    ['symbol=S!Y', 'symbol'],
    ['symbol=SPY&symbol=QQQ', 'symbol'],
    ['symbol=SPY&session=2026-02-30', 'session'],
    ['symbol=SPY&min_premium_usd=-1', 'min_premium_usd'],
    ['symbol=SPY&min_premium_usd=lots', 'min_premium_usd'],
    ['symbol=SPY&limit=0', 'limit'],
    ['symbol=SPY&limit=1.5', 'limit'],
  ])('400: %s names the parameter', async (query, parameter) => {
    const { status, body } = await app.get(`${path}?${query}`);
    expect(status).toBe(400);
    expect(body.error.code).toBe('invalid_params');
    expect(body.error.message).toMatch(new RegExp(`^${parameter}: `));
  });

  test('401 without a credential', async () => {
    const { status, body } = await app.get(`${path}?symbol=SPY`, { credential: null });
    expect([status, body.error.code]).toEqual([401, 'unauthenticated']);
  });

  test.each([
    ['free', 'non_professional', 'not_entitled_tier'],
    ['basic', 'non_professional', 'not_entitled_tier'],
    ['basic', null, 'not_entitled_tier'],
    ['pro', null, 'attestation_required'],
    ['pro', 'professional', 'attestation_required'],
  ] as const)('403: tier %s, declared %s: %s', async (tier, classification, code) => {
    const key = await app.key({ apiTier: tier, siteTier: 'pro', classification });
    const signedIn = await app.session({ siteTier: tier, apiTier: 'pro', classification });
    for (const credential of [key, signedIn]) {
      // The rule for flow comes before what a key must send, and before the symbol.
      for (const query of ['', '?symbol=SPY', '?symbol=NOPE']) {
        const { status, body } = await app.get(path + query, { credential });
        expect([status, body.error.code]).toEqual([403, code]);
      }
    }
  });

  test.each(['NOPE', 'ZZZ'])('404: %s is not in the registry', async (symbol) => {
    const { status, body } = await app.get(`${path}?symbol=${symbol}`);
    expect([status, body.error.code]).toEqual([404, 'not_found']);
  });

  test('503 when no option tape is configured', async () => {
    const without = await testApp({ nowMs, env: { SOURCES: 'bars,chain' } });
    const { status, body } = await without.get(`${path}?symbol=SPY`);
    await without.close();
    expect([status, body.error.code]).toEqual([503, 'internal']);
  });

  test('502 when the store fails', async () => {
    const broken = await testApp({ nowMs });
    await broken.get(`${path}?symbol=SPY`);
    await broken.store.pool.query('ALTER TABLE flow_events RENAME TO gone');
    const { status, body } = await broken.get(`${path}?symbol=SPY`);
    await broken.close();
    expect([status, body.error.code]).toEqual([502, 'internal']);
    expect(JSON.stringify(body)).not.toContain('flow_events');
  });
});

describe('the graph', () => {
  const events = `events { seq update { event { eventId legs { contract { id underlying { symbol } } } } } } meta { count limitClamped }`;

  test('Symbol.flow.largeTrades and largeTrades give the same events, and legs lead to contracts', async () => {
    const { data, errors } = await app.graphql(
      `{ symbol(symbol: "SPY") { flow { largeTrades(minPremiumUsd: 250000) { ${events} } } }
         largeTrades(symbol: "SPY", minPremiumUsd: 250000) { ${events} } }`,
    );
    expect(errors).toBeUndefined();
    expect(data.largeTrades).toEqual(data.symbol.flow.largeTrades);
    expect(data.largeTrades.events.map((event: Json) => event.seq)).toEqual([42, 3]);
    expect(data.largeTrades.events[0].update.event.legs[1].contract).toEqual({
      id: put,
      underlying: { symbol: 'SPY' },
    });
  });

  test('a field that may not be read is null with an error at its path, and the rest stands', async () => {
    const credential = await app.key({ apiTier: 'basic' });
    const { data, errors } = await app.graphql(
      '{ symbol(symbol: "SPY") { symbol flow { largeTrades { meta { count } } } } largeTrades(symbol: "SPY") { meta { count } } }',
      {},
      { credential },
    );
    expect(data).toEqual({ symbol: { symbol: 'SPY', flow: { largeTrades: null } }, largeTrades: null });
    expect(errors!.map(({ path, extensions }) => [path.join('.'), extensions.code]).sort()).toEqual([
      ['largeTrades', 'not_entitled_tier'],
      ['symbol.flow.largeTrades', 'not_entitled_tier'],
    ]);
  });
});
