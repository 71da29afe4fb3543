import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { type Json, type TestApp, testApp } from '../../support/app.ts';
import { leg, rankedList, storeRankedLists } from '../../support/flow.ts';

// Friday 2026-11-20, 17:00 in New York: the session has closed.
const nowMs = Date.parse('2026-11-20T22:00Z');
const path = '/v2/flow/eod';
const call = 'O:SPY261218C00600000';
const put = 'O:SPY270115P00580000';
const apple = 'O:AAPL261218C00250000';
const index = 'O:SPXW261120C06000000';
const at = (session: string, minute: number) => exchangeInstant(session, minute);

let app: TestApp;
let session: string;
let empty: TestApp;

beforeAll(async () => {
  app = await testApp({ nowMs });
  empty = await testApp({ nowMs });
  session = await app.session();
  const biggest = leg(index, at('2026-11-19', 600), { price: 50 });
  const spy = [
    leg(call, at('2026-11-19', 700), { price: 9, size: 2500, sequence: 77, conditions: [209, 232], exchange: 316 }),
    leg(put, at('2026-11-19', 600), { price: 4 }),
  ];
  const aapl = [leg(apple, at('2026-11-19', 650), { price: 5 })];
  const earlier = [leg(call, at('2026-11-18', 700))];
  await storeRankedLists(app.store, [
    rankedList('*', 'free', '2026-11-19', [spy[0]!, aapl[0]!, spy[1]!]),
    rankedList('SPY', 'free', '2026-11-19', spy),
    rankedList('AAPL', 'free', '2026-11-19', aapl),
    rankedList('*', 'pro', '2026-11-19', [biggest, spy[0]!, aapl[0]!, spy[1]!]),
    rankedList('SPY', 'pro', '2026-11-19', spy),
    rankedList('SPX', 'pro', '2026-11-19', [biggest]),
    rankedList('*', 'free', '2026-11-18', earlier),
    rankedList('XOM', 'free', '2026-11-18', [leg('O:XOM261218C00120000', at('2026-11-18', 700))]),
    // Lists of a session that has not closed by the server's clock.
    rankedList('*', 'pro', '2026-11-23', spy),
    rankedList('*', 'free', '2026-11-23', spy),
  ]);
});
afterEach(() => {
  app.clock.nowMs = nowMs;
});
afterAll(() => Promise.all([app.close(), empty.close()]));

const ranks = (body: Json) => body.data.prints.map((print: Json) => print.rank);

describe('GET /v2/flow/eod', () => {
  test("gives an underlying's own list key for key", async () => {
    const { status, body, headers } = await app.get(`${path}?symbol=spy&session=2026-11-19&right=call`);
    expect(status).toBe(200);
    const eventId = `single_block:${call}:${at('2026-11-19', 700)}:77`;
    expect(body).toStrictEqual({
      data: {
        session_date: '2026-11-19',
        symbol: 'SPY',
        tier: 'free',
        limit: 100,
        coverage_status: 'eod_reconciled',
        scanned_at_ms: 1_790_000_000_000,
        source: 'full_tape',
        prints: [
          {
            print_id: `${eventId}#0`,
            event_id: eventId,
            underlying: 'SPY',
            contract: { underlying: 'SPY', expiry: '2026-12-18', right: 'call', strike: 600_000 },
            price: 9,
            size: 2500,
            premium_usd: 2_250_000,
            exchange: 316,
            conditions: [209, 232],
            event_ts_ms: at('2026-11-19', 700),
            sequence: 77,
            session_date: '2026-11-19',
            coverage_status: 'eod_reconciled',
            rank: 1,
          },
        ],
      },
      meta: {
        caps: { applied: [], tier: 'pro' },
        count: 1,
        filters: { symbol: 'SPY', session: '2026-11-19', right: 'call' },
        plane: 'archive',
      },
    });
    expect(headers.etag).toBeDefined();
  });

  test('without symbol gives the whole list, and data.symbol is absent', async () => {
    const { body } = await app.get(`${path}?session=2026-11-19&min_premium_usd=0`);
    expect(body.data.prints.map((print: Json) => print.underlying)).toEqual(['SPY', 'AAPL', 'SPY']);
    expect(ranks(body)).toEqual([1, 2, 3]);
    expect(body.data).not.toHaveProperty('symbol');
    expect(body.meta.filters).toStrictEqual({ session: '2026-11-19', min_premium_usd: 0 });
  });

  test('keys read the equities list, Pro sessions index options too; data.tier names it', async () => {
    const held = await app.get(`${path}?session=2026-11-19`, { credential: session });
    expect(held.body.data.tier).toBe('pro');
    expect(held.body.data.prints.map((print: Json) => print.underlying)).toEqual(['SPX', 'SPY', 'AAPL', 'SPY']);
    const key = await app.get(`${path}?session=2026-11-19&symbol=SPX`);
    expect(key.body.meta.note).toContain('API keys read the list of equities');
    expect(key.body).toMatchObject({ data: { tier: 'free', prints: [], session_date: '2026-11-19' } });
    expect((await app.get(`${path}?symbol=SPX`, { credential: session })).body.meta.count).toBe(1);
  });

  test('without session a site session reads the latest stored one, whatever other filters say', async () => {
    for (const filter of [
      '',
      '&symbol=XOM',
      '&expiry=2030-01-18',
      '&min_premium_usd=1e9'.replace('1e9', '1000000000'),
    ]) {
      const { body } = await app.get(`${path}?${filter.slice(1)}`, { credential: session });
      expect(body.data.session_date).toBe('2026-11-19');
    }
    const { body } = await app.get(path, { credential: session });
    expect(body.meta.filters).toStrictEqual({});
    expect(body.meta.count).toBe(4);
  });

  test.each([
    [`from_ms=${at('2026-11-19', 650)}`, [1, 2]],
    [`from_ms=${at('2026-11-19', 650) + 1}`, [1]],
    [`to_ms=${at('2026-11-19', 650)}`, [2, 3]],
    [`to_ms=${at('2026-11-19', 650) - 1}`, [3]],
    ['min_premium_usd=500000', [1, 2]],
    ['min_premium_usd=500000.01', [1]],
    ['right=put', [3]],
    ['expiry=2026-12-18', [1, 2]],
  ])('%s filters on the print itself and changes no rank', async (filter, expected) => {
    const { body } = await app.get(
      `${path}?session=2026-11-19${filter.startsWith('min') ? '' : '&min_premium_usd=0'}&${filter}`,
    );
    expect(ranks(body)).toEqual(expected);
    expect(body.meta.count).toBe(expected.length);
  });

  test('the echo holds every filter that was sent, read as what it is', async () => {
    const [fromMs, toMs] = [at('2026-11-19', 0), at('2026-11-19', 1)];
    const { body } = await app.get(
      `${path}?symbol=spy&session=2026-11-19&from_ms=${fromMs}&to_ms=${toMs}&min_premium_usd=100000.5&right=put&expiry=2026-12-18`,
    );
    expect(body.meta.filters).toStrictEqual({
      symbol: 'SPY',
      session: '2026-11-19',
      from_ms: fromMs,
      to_ms: toMs,
      min_premium_usd: 100_000.5,
      right: 'put',
      expiry: '2026-12-18',
    });
    expect(body.meta).toMatchObject({ count: 0, note: 'No ranked print passes the filters.' });
  });

  test('nothing stored: 200, nulls, an empty list and a note', async () => {
    const { status, body } = await empty.get(`${path}?session=2026-11-19&symbol=SPY`);
    expect(status).toBe(200);
    expect(body).toStrictEqual({
      data: {
        session_date: null,
        symbol: 'SPY',
        tier: 'free',
        limit: 100,
        coverage_status: null,
        scanned_at_ms: null,
        source: null,
        prints: [],
      },
      meta: {
        caps: { applied: [], tier: 'pro' },
        count: 0,
        filters: { symbol: 'SPY', session: '2026-11-19' },
        note: 'No end-of-day list is stored.',
        plane: 'archive',
      },
    });
  });

  test('an underlying of which nothing ranked: the session is named, with a note', async () => {
    const { body } = await app.get(`${path}?session=2026-11-19&symbol=XOM`);
    expect(body).toMatchObject({
      data: { session_date: '2026-11-19', coverage_status: 'eod_reconciled', prints: [] },
      meta: { count: 0, note: 'No print of the session is ranked.' },
    });
  });

  test('the list of a session is there once that session has closed', async () => {
    const query = `${path}?session=2026-11-23&min_premium_usd=0`;
    expect((await app.get(query)).body.data.session_date).toBeNull();
    app.clock.nowMs = at('2026-11-23', 959);
    expect((await app.get(query)).body.data.session_date).toBeNull();
    app.clock.nowMs = at('2026-11-23', 960);
    const { body, headers } = await app.get(query);
    expect(body.data.session_date).toBe('2026-11-23');
    // It may still be reconciled: today's answer is not kept.
    expect(body.meta.plane).toBe('live');
    expect(headers['cache-control']).toBe('no-store');
  });

  test('a list written again replaces the one before whole', async () => {
    const again = [leg('O:MSFT261218C00500000', at('2026-11-17', 600))];
    await storeRankedLists(app.store, [rankedList('MSFT', 'free', '2026-11-17', [...again, ...again])]);
    await storeRankedLists(app.store, [
      rankedList('MSFT', 'free', '2026-11-17', again, { coverageStatus: 'observed_live', scannedAtMs: 5 }),
    ]);
    const { body } = await app.get(`${path}?session=2026-11-17&symbol=MSFT`);
    expect(body.data).toMatchObject({ coverage_status: 'observed_live', scanned_at_ms: 5 });
    expect(ranks(body)).toEqual([1]);
  });

  test.each([
    ['symbol=SPY', 'session'],
    ['session=2026-11-19', 'symbol'],
    ['', 'session'],
  ])('400: a key that sends only "%s"', async (query, parameter) => {
    const { status, body } = await app.get(`${path}?${query}`);
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code: 'invalid_params', details: { parameter } });
  });

  test.each([
    ['session=2026-13-01', 'session'],
    ['session=2026-11-19&symbol=$', 'symbol'],
    ['session=2026-11-19&symbol=SPY&from_ms=noon', 'from_ms'],
    ['session=2026-11-19&symbol=SPY&to_ms=1.5', 'to_ms'],
    ['session=2026-11-19&min_premium_usd=x', 'min_premium_usd'],
    ['session=2026-11-19&symbol=SPY&right=CALL', 'right'],
    ['session=2026-11-19&symbol=SPY&expiry=2026', 'expiry'],
  ])('400: %s names the parameter', async (query, parameter) => {
    const { status, body } = await app.get(`${path}?${query}`);
    expect(status).toBe(400);
    expect(body.error.message).toMatch(new RegExp(`^${parameter}: `));
  });

  test('401 without a credential', async () => {
    expect((await app.get(path, { credential: null })).status).toBe(401);
  });

  test.each([
    ['basic', 'non_professional', 'not_entitled_tier'],
    ['pro', null, 'attestation_required'],
  ] as const)('403: tier %s, declared %s: %s', async (apiTier, classification, code) => {
    const credential = await app.key({ apiTier, classification });
    const { status, body } = await app.get(`${path}?symbol=NOPE`, { credential });
    expect([status, body.error.code]).toEqual([403, code]);
  });

  test.each(['NOPE', 'ZZZ'])('404: %s is not in the registry', async (symbol) => {
    const { status, body } = await app.get(`${path}?session=2026-11-19&symbol=${symbol}`);
    expect([status, body.error.code]).toEqual([404, 'not_found']);
  });
});

describe('the graph', () => {
  test("Symbol.flow.eod is the symbol's own list, eod the whole one; prints lead to their contracts", async () => {
    const { data, errors } = await app.graphql(
      `{ symbol(symbol: "SPY") { flow { eod(session: "2026-11-19") { symbol prints { rank contract { id underlying { symbol } } } } } }
         eod(session: "2026-11-19", minPremiumUsd: 450000) { symbol prints { underlying } meta { filters { minPremiumUsd right } } } }`,
    );
    expect(errors).toBeUndefined();
    expect(data.symbol.flow.eod.prints).toEqual([
      { rank: 1, contract: { id: call, underlying: { symbol: 'SPY' } } },
      { rank: 2, contract: { id: put, underlying: { symbol: 'SPY' } } },
    ]);
    expect(data.eod).toMatchObject({ symbol: null, meta: { filters: { minPremiumUsd: 450_000, right: null } } });
    expect(data.eod.prints).toHaveLength(2);
  });

  test('a key must send as much as over REST', async () => {
    const { data, errors } = await app.graphql('{ eod(session: "2026-11-19") { tier } }');
    expect(data).toEqual({ eod: null });
    expect(errors).toMatchObject([{ path: ['eod'], extensions: { code: 'invalid_params' } }]);
  });
});
