import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Json, type TestApp, testApp, testSymbols } from '../../support/app.ts';
import { storeDays } from '../../support/market.ts';
import { statementsOf } from '../../support/statements.ts';
import { storeForThisTest } from '../../support/store.ts';

// Friday 2026-11-20, 12:00 in New York.
const nowMs = Date.parse('2026-11-20T17:00Z');
let app: TestApp;

beforeAll(async () => {
  app = await testApp({ nowMs });
  await storeDays(app.store, 'AAPL', { '2026-11-19': 200, '2026-11-20': [202, 5000] });
  await storeDays(app.store, 'MSFT', { '2026-11-18': 400, '2026-11-19': 390 });
  await storeDays(app.store, 'NVDA', { '2026-11-20': 180 });
  await storeDays(app.store, 'BRK.B', { '2026-11-19': 700, '2026-11-20': 693 });
  await storeDays(app.store, 'XOM', { '2026-11-19': 100, '2026-11-20': 100 });
  await storeDays(app.store, 'SPX', { '2026-11-19': 6000, '2026-11-20': 6300 });
  await storeDays(app.store, 'XSP', { '2026-11-19': 600, '2026-11-20': 603 });
  await storeDays(app.store, 'ZZZ', { '2026-11-19': 1, '2026-11-20': 9 });
});
afterAll(() => app.close());

const movers = (query = '', sending = {}) => app.get(`/v2/screener/movers?${query}`, sending);
const symbolsOf = ({ body }: Json) => body.data.map((row: Json) => row.symbol);

describe('GET /v2/screener/movers', () => {
  test('serves the largest changes, up or down, first, key for key; equals by ticker, an unchanged one last', async () => {
    const { status, body, headers } = await movers();
    expect(status).toBe(200);
    // NVDA has no close before, SPY no bars, ZZZ is outside the registry.
    expect(body).toStrictEqual({
      data: [
        { symbol: 'SPX', spot: 6300, change_pct: 5, volume: null, official_close: 6000 },
        { symbol: 'MSFT', spot: 390, change_pct: -2.5, volume: 1000, official_close: 400 },
        { symbol: 'AAPL', spot: 202, change_pct: 1, volume: 5000, official_close: 200 },
        { symbol: 'BRK.B', spot: 693, change_pct: -1, volume: 1000, official_close: 700 },
        { symbol: 'XSP', spot: 603, change_pct: 0.5, volume: null, official_close: 600 },
        { symbol: 'XOM', spot: 100, change_pct: 0, volume: 1000, official_close: 100 },
      ],
      meta: {
        caps: { applied: [], tier: 'pro' },
        count: 6,
        computed_at: nowMs,
        plane: 'live',
        read_at_ms: app.clock.nowMs,
        universe: 'registry',
      },
    });
    expect(headers['cache-control']).toBe('no-store');
  });

  test('a row is what the quote of its symbol says', async () => {
    const { body } = await movers();
    const quotes = await app.get(`/v2/quotes?symbols=${symbolsOf({ body }).join(',')}`);
    expect(quotes.body.data).toMatchObject(body.data);
  });

  test('limit takes the first, after those that may not be read are left out', async () => {
    expect(symbolsOf(await movers('limit=2'))).toEqual(['SPX', 'MSFT']);
    const free = { credential: await app.key({ apiTier: 'free' }) };
    expect(symbolsOf(await movers('limit=2', free))).toEqual(['AAPL', 'BRK.B']);
    expect(symbolsOf(await movers('', free))).toEqual(['AAPL', 'BRK.B', 'XSP', 'XOM']);
    const undeclared = { credential: await app.key({ classification: null }) };
    expect(symbolsOf(await movers('', undeclared))).toEqual(['MSFT', 'AAPL', 'BRK.B', 'XOM']);
  });

  test('a limit over 180 is clamped and reported, 180 is not', async () => {
    const over = await movers('limit=181');
    expect(over.status).toBe(200);
    expect(over.body.meta.caps.applied).toEqual(['limit_clamped']);
    expect((await movers('limit=180&universe=registry')).body.meta.caps.applied).toEqual([]);
  });

  test.each([
    ['limit=0', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=many', 'limit'],
    ['universe=sp500', 'universe'],
    ['universe=Registry', 'universe'],
  ])('400 names the parameter: ?%s', async (query, parameter) => {
    const { status, body } = await movers(query);
    expect([status, body.error.code]).toEqual([400, 'invalid_params']);
    expect(body.error.message).toMatch(new RegExp(`^${parameter}: `));
  });

  test('401 without a credential', async () => {
    expect((await movers('', { credential: null })).status).toBe(401);
  });

  test('of a large registry 25 are served, 180 at most; one computation a minute is shared with the sectors', async () => {
    const many = Array.from({ length: 200 }, (_, i) => `S${String(i).padStart(3, '0')}`);
    const symbols = many.map((symbol) => ({ ...testSymbols[0]!, symbol }));
    const shared = await testApp({ nowMs, store: await storeForThisTest(), symbols });
    try {
      for (const [i, symbol] of many.entries())
        await storeDays(shared.store, symbol, { '2026-11-19': 1000, '2026-11-20': 1000 + (i % 2 ? i : -i) });
      const ask = async (query = '') => (await shared.get(`/v2/screener/movers?${query}`)).body;
      const usual = await ask();
      expect(usual.data.map((row: Json) => row.symbol)).toEqual(many.toReversed().slice(0, 25));
      expect(usual.meta.count).toBe(25);
      expect((await ask('limit=5000')).data).toHaveLength(180);
      shared.clock.nowMs = nowMs + 59_999;
      const statements = await statementsOf(async () => {
        expect((await shared.get('/v2/screener/sectors')).body.meta.computed_at).toBe(nowMs);
        expect((await ask()).meta.computed_at).toBe(nowMs);
      });
      expect(statements).toEqual([]);
      shared.clock.nowMs = nowMs + 60_000;
      expect((await ask()).meta.computed_at).toBe(nowMs + 60_000);
    } finally {
      await shared.close();
    }
  });

  test('502 when the store fails, 503 without a bars source', async () => {
    const broken = await testApp({ nowMs, store: await storeForThisTest() });
    try {
      await broken.get('/v2/symbols');
      await broken.store.pool.query('alter table bar_blocks rename to bar_blocks_away');
      const failed = await broken.get('/v2/screener/movers');
      expect([failed.status, failed.body.error.code]).toEqual([502, 'internal']);
      await broken.store.pool.query('alter table bar_blocks_away rename to bar_blocks');
      expect((await broken.get('/v2/screener/movers')).status).toBe(200);
    } finally {
      await broken.close();
    }
    const bare = await testApp({ store: await storeForThisTest(), env: { SOURCES: 'none' } });
    try {
      const { status, body } = await bare.get('/v2/screener/movers');
      expect([status, body.error.code]).toEqual([503, 'internal']);
    } finally {
      await bare.close();
    }
  });
});

describe('movers', () => {
  test('the graph gives the same, with the symbol behind each row, and costs by its size', async () => {
    const { data, extensions } = await app.graphql(
      `{ movers(limit: 2) { rows { symbol changePct node { name spot { price } } } meta { count universe plane } } }`,
    );
    expect(data.movers).toEqual({
      rows: [
        { symbol: 'SPX', changePct: 5, node: { name: 'SPX Inc.', spot: { price: 6300 } } },
        { symbol: 'MSFT', changePct: -2.5, node: { name: 'MSFT Inc.', spot: { price: 390 } } },
      ],
      meta: { count: 2, universe: 'registry', plane: 'live' },
    });
    const large = await app.graphql(`{ movers(limit: 180) { rows { node { spot { price } } } } }`);
    expect(large.extensions.cost.requested).toBeGreaterThan(extensions.cost.requested);
    const wrong = await app.graphql(`{ movers(limit: 0) { meta { count } } }`);
    expect(wrong.errors).toMatchObject([{ path: ['movers'], extensions: { code: 'invalid_params' } }]);
  });
});
