import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import { storeDays } from '../../support/market.ts';
import { storeForThisTest } from '../../support/store.ts';

// Friday 2026-11-20, 12:00 in New York.
const nowMs = Date.parse('2026-11-20T17:00Z');
let app: TestApp;

beforeAll(async () => {
  app = await testApp({ nowMs });
  await storeDays(app.store, 'SPY', { '2026-11-19': 600, '2026-11-20': 595.68 });
  await storeDays(app.store, 'AAPL', { '2026-11-19': 201.5 });
  await storeDays(app.store, 'XOM', { '2026-11-09': 111 });
  await storeDays(app.store, 'ZZZ', { '2026-11-19': 3 });
});
afterAll(() => app.close());

const meta = { caps: { applied: [], tier: 'pro' }, plane: 'live', read_at_ms: nowMs };

describe('GET /v2/symbols/{symbol}/spot', () => {
  test("is the current session's bar as it builds, key for key", async () => {
    const { status, body, headers } = await app.get('/v2/symbols/spy/spot');
    expect(status).toBe(200);
    expect(body).toStrictEqual({ data: { symbol: 'SPY', price: 595.68, ts: exchangeInstant('2026-11-20') }, meta });
    expect(headers['cache-control']).toBe('no-store');
  });

  test('else the last completed session, and ts is the start of its bar', async () => {
    const { body } = await app.get('/v2/symbols/AAPL/spot');
    expect(body.data).toStrictEqual({ symbol: 'AAPL', price: 201.5, ts: Date.parse('2026-11-19T05:00Z') });
  });

  test.each([
    ['without bars', 'BRK.B'],
    ['without recent ones', 'XOM'],
  ])('price and ts of a symbol %s are null', async (_what, symbol) => {
    const { status, body } = await app.get(`/v2/symbols/${symbol}/spot`);
    expect(status).toBe(200);
    expect(body).toStrictEqual({ data: { symbol, price: null, ts: null }, meta });
  });

  test.each([
    ['a real ticker outside the registry', 'ZZZ'],
    ['an unknown ticker', 'QQQQ'],
    ['what is no ticker', 'not-a-ticker!'],
  ])('answers 404 for %s', async (_what, symbol) => {
    const { status, body } = await app.get(`/v2/symbols/${symbol}/spot`);
    expect([status, body.error.code]).toEqual([404, 'not_found']);
  });

  test.each([
    ['NVDA', 'basic', null, 'not_entitled_tier'],
    ['SPX', 'free', null, 'not_entitled_tier'],
    ['SPX', 'pro', null, 'attestation_required'],
    ['XSP', 'free', 'professional', 'attestation_required'],
  ] as const)('answers 403 for %s to a %s, %s key', async (symbol, apiTier, classification, code) => {
    const credential = await app.key({ apiTier, classification });
    const { status, body } = await app.get(`/v2/symbols/${symbol}/spot`, { credential });
    expect([status, body.error.code]).toEqual([403, code]);
    const { data, errors } = await app.graphql(
      `{ symbol(symbol: "${symbol}") { spot { price } } }`,
      {},
      { credential },
    );
    expect(data.symbol.spot).toBeNull();
    expect(errors).toMatchObject([{ path: ['symbol', 'spot'], extensions: { code } }]);
  });

  test('answers 401 without a credential', async () => {
    expect((await app.get('/v2/symbols/SPY/spot', { credential: null })).status).toBe(401);
  });

  test('answers 503 without a bars source, 404 before that', async () => {
    const bare = await testApp({ store: await storeForThisTest(), env: { SOURCES: 'none' } });
    try {
      const { status, body } = await bare.get('/v2/symbols/SPY/spot');
      expect([status, body.error.code]).toEqual([503, 'internal']);
      expect((await bare.get('/v2/symbols/QQQQ/spot')).status).toBe(404);
    } finally {
      await bare.close();
    }
  });
});
