import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../support/app.ts';
import { storeDays } from '../../support/market.ts';
import { storeForThisTest } from '../../support/store.ts';

// Friday 2026-11-20, 12:00 in New York.
const nowMs = Date.parse('2026-11-20T17:00Z');
let app: TestApp;

beforeAll(async () => {
  app = await testApp({ nowMs });
  await storeDays(app.store, 'AAPL', { '2026-11-19': 200, '2026-11-20': 202 });
  await storeDays(app.store, 'MSFT', { '2026-11-18': 400, '2026-11-19': 398 });
  await storeDays(app.store, 'NVDA', { '2026-11-20': 180 });
  await storeDays(app.store, 'BRK.B', { '2026-11-19': 700, '2026-11-20': 707 });
  await storeDays(app.store, 'SPX', { '2026-11-19': 6000, '2026-11-20': 6120 });
  await storeDays(app.store, 'XSP', { '2026-11-19': 600, '2026-11-20': 618 });
  await storeDays(app.store, 'ZZZ', { '2026-11-19': 1, '2026-11-20': 9 });
});
afterAll(() => app.close());

// NVDA has no close before, XOM and SPY no bars at all.
const rows = [
  { sector: 'Energy', symbols: ['XOM'], avg_change_pct: null, count: 0 },
  { sector: 'Funds', symbols: ['SPY'], avg_change_pct: null, count: 0 },
  { sector: 'Technology', symbols: ['AAPL', 'MSFT', 'NVDA'], avg_change_pct: 0.25, count: 2 },
];
const equitiesOnly = [...rows, { sector: 'other', symbols: ['BRK.B'], avg_change_pct: 1, count: 1 }];

describe('GET /v2/screener/sectors', () => {
  test('averages the registry by sector, ascending, the uncovered under other, key for key', async () => {
    const { status, body, headers } = await app.get('/v2/screener/sectors');
    expect(status).toBe(200);
    expect(body).toStrictEqual({
      data: equitiesOnly,
      meta: {
        caps: { applied: [], tier: 'pro' },
        count: 4,
        computed_at: nowMs,
        note: expect.stringMatching(/latest session/),
        plane: 'live',
        read_at_ms: app.clock.nowMs,
      },
    });
    expect(headers['cache-control']).toBe('no-store');
  });

  test('an API key never sees index symbols, a session those it may read', async () => {
    const other = async (credential: string) =>
      (await app.get('/v2/screener/sectors', { credential })).body.data.find(
        (row: { sector: string }) => row.sector === 'other',
      );
    expect((await other(await app.key())).symbols).toEqual(['BRK.B']);
    expect(await other(await app.session())).toEqual({
      sector: 'other',
      symbols: ['BRK.B', 'SPX', 'XSP'],
      avg_change_pct: 2,
      count: 3,
    });
    expect((await other(await app.session({ siteTier: 'free' }))).symbols).toEqual(['BRK.B', 'XSP']);
    expect((await other(await app.session({ classification: null }))).symbols).toEqual(['BRK.B']);
  });

  test('date is echoed and not applied', async () => {
    const { body } = await app.get('/v2/screener/sectors?date=2020-01-02');
    expect(body.data).toEqual(equitiesOnly);
    expect(body.meta.date).toBe('2020-01-02');
  });

  test('answers 400 for a date that is none, naming it', async () => {
    const { status, body } = await app.get('/v2/screener/sectors?date=2026-02-30');
    expect([status, body.error.code]).toEqual([400, 'invalid_params']);
    expect(body.error.message).toMatch(/^date: /);
  });

  test('answers 401 without a credential', async () => {
    expect((await app.get('/v2/screener/sectors', { credential: null })).status).toBe(401);
  });

  test('the graph gives the same', async () => {
    const { data } = await app.graphql(
      '{ sectors { rows { sector symbols avg_change_pct: avgChangePct count } meta { count date caps { tier } } } }',
    );
    expect(data.sectors).toEqual({ rows: equitiesOnly, meta: { count: 4, date: null, caps: { tier: 'pro' } } });
  });

  test('one computation serves everybody for a minute', async () => {
    const shared = await testApp({ nowMs, store: await storeForThisTest() });
    try {
      const { store, clock } = shared;
      await storeDays(store, 'AAPL', { '2026-11-19': 200, '2026-11-20': 202 });
      const technology = async (credential?: string) => {
        const { body } = await shared.get('/v2/screener/sectors', credential === undefined ? {} : { credential });
        const row = body.data.find((candidate: { sector: string }) => candidate.sector === 'Technology');
        return [row.avg_change_pct, body.meta.computed_at];
      };
      expect(await technology()).toEqual([1, nowMs]);
      await storeDays(store, 'AAPL', { '2026-11-20': 204 });
      clock.nowMs = nowMs + 59_999;
      expect(await technology(await shared.session({ siteTier: 'free' }))).toEqual([1, nowMs]);
      clock.nowMs = nowMs + 60_000;
      expect(await technology()).toEqual([2, nowMs + 60_000]);
    } finally {
      await shared.close();
    }
  });

  test('a failure is not shared beyond those who met it', async () => {
    const broken = await testApp({ nowMs, store: await storeForThisTest() });
    try {
      await broken.get('/v2/symbols');
      await broken.store.pool.query('alter table bar_blocks rename to bar_blocks_away');
      const { status, body } = await broken.get('/v2/screener/sectors');
      expect([status, body.error.code]).toEqual([502, 'internal']);
      await broken.store.pool.query('alter table bar_blocks_away rename to bar_blocks');
      expect((await broken.get('/v2/screener/sectors')).status).toBe(200);
    } finally {
      await broken.close();
    }
  });

  test('answers 503 without a bars source', async () => {
    const bare = await testApp({ store: await storeForThisTest(), env: { SOURCES: 'none' } });
    try {
      const { status, body } = await bare.get('/v2/screener/sectors');
      expect([status, body.error.code]).toEqual([503, 'internal']);
    } finally {
      await bare.close();
    }
  });
});
