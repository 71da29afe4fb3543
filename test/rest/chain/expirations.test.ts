import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../support/app.ts';
import { chainCapture, chainRow, newYork, saveCaptures } from '../../support/option-market.ts';

// Wednesday 2026-11-18, 12:00 in New York.
const nowMs = Date.parse('2026-11-18T17:00Z');
let app: TestApp;

const chain = (symbol: string, date: string, clock: string, expiries: string[]) =>
  chainCapture(
    symbol,
    newYork(date, clock),
    expiries.map((expiry) => chainRow({ root: symbol, expiry, right: 'call', strike: 600_000 })),
  );

beforeAll(async () => {
  app = await testApp({ nowMs });
  await saveCaptures(app.store, {
    chains: [
      chain('SPY', '2026-11-17', '09:35', ['2026-11-17', '2026-11-18']),
      chain('SPY', '2026-11-17', '16:00', ['2026-11-17', '2026-11-18', '2026-12-18']),
      chain('SPY', '2026-11-18', '11:55', ['2026-11-18', '2026-11-20', '2026-12-18']),
      chain('SPY', '2026-11-18', '12:05', ['2026-11-18', '2026-11-20']),
      chain('SPX', '2026-11-18', '11:55', ['2026-11-18']),
      chain('XOM', '2025-11-28', '10:00', ['2025-11-28', '2025-12-19']),
    ],
  });
});
afterAll(() => app.close());

const list = (symbol: string, query = '', sending = {}) => app.get(`/v2/chain/${symbol}/expirations?${query}`, sending);

async function atTime<T>(instantMs: number, work: () => Promise<T>): Promise<T> {
  app.clock.nowMs = instantMs;
  try {
    return await work();
  } finally {
    app.clock.nowMs = nowMs;
  }
}

describe('GET /v2/chain/{symbol}/expirations', () => {
  test('lists the latest chain ascending, and from the cache for up to a minute', async () => {
    const first = await list('spy');
    expect(first.status).toBe(200);
    expect(first.body).toEqual({
      data: ['2026-11-18', '2026-11-20', '2026-12-18'],
      meta: {
        caps: { applied: [], tier: 'pro' },
        plane: 'live',
        count: 3,
        captured_at: newYork('2026-11-18', '11:55'),
        underlying: 'SPY',
        cached: false,
        read_at_ms: nowMs,
      },
    });
    expect(first.headers['cache-control']).toBe('no-store');
    const again = await atTime(nowMs + 59_999, () => list('SPY'));
    expect(again.body).toEqual({
      data: first.body.data,
      meta: { ...first.body.meta, cached: true, read_at_ms: nowMs + 59_999 },
    });
    const later = await atTime(nowMs + 60_000, () => list('SPY'));
    expect(later.body.meta.cached).toBe(false);
  });

  test("after the close the day's expiry is gone from the live list at once, cached or not, and stays in the stored one", async () => {
    const close = newYork('2026-11-18', '16:00');
    const before = await atTime(close - 1, () => list('SPY'));
    expect(before.body.data).toEqual(['2026-11-18', '2026-11-20']);
    const after = await atTime(close, () => list('SPY'));
    expect(after.body).toMatchObject({ data: ['2026-11-20'], meta: { count: 1, cached: true } });
    const stored = await atTime(close, () => list('SPY', `at=${close}`));
    expect(stored.body).toMatchObject({ data: ['2026-11-18', '2026-11-20'], meta: { count: 2, cached: false } });
  });

  test('on a half day the close is 13:00', async () => {
    const close = newYork('2025-11-28', '13:00');
    expect((await atTime(close - 1, () => list('XOM'))).body.data).toEqual(['2025-11-28', '2025-12-19']);
    expect((await atTime(close, () => list('XOM'))).body.data).toEqual(['2025-12-19']);
  });

  test('with at, the chain stored for that time, as it was', async () => {
    const noon = await list('SPY', 'at=2026-11-17T12:00');
    expect(noon.body).toMatchObject({
      data: ['2026-11-17', '2026-11-18'],
      meta: { captured_at: newYork('2026-11-17', '09:35'), plane: 'archive', cached: false },
    });
    expect(noon.headers).toMatchObject({ 'cache-control': 'private', etag: expect.any(String) });
    const inBerlin = await list('SPY', 'at=2026-11-17T22:00&tz=Europe/Berlin');
    expect(inBerlin.body.meta.captured_at).toBe(newYork('2026-11-17', '16:00'));
    expect((await list('SPY', 'at=2026-11-17T21:59:59&tz=Europe/Berlin')).body.meta.captured_at).toBe(
      newYork('2026-11-17', '09:35'),
    );
    expect((await list('SPY', 'at=2026-11-17T21:00:00Z&tz=Asia/Tokyo')).body.meta.captured_at).toBe(
      newYork('2026-11-17', '16:00'),
    );
    const whole = await list('SPY', 'at=2026-11-17');
    expect(whole.body.meta.captured_at).toBe(newYork('2026-11-17', '16:00'));
    const early = await list('SPY', 'at=2026-11-01');
    expect(early.body).toMatchObject({ data: [], meta: { count: 0, captured_at: null } });
    const today = await list('SPY', `at=${nowMs + 60_000}`);
    expect(today.body.meta).toMatchObject({ captured_at: newYork('2026-11-18', '11:55'), plane: 'live' });
    expect(today.headers['cache-control']).toBe('no-store');
  });

  test('expiry and strikes are read and do not narrow the list', async () => {
    const { status, body } = await list('SPY', 'expiry=2026-11-20&strike_gte=1000&strike_lte=2000');
    expect(status).toBe(200);
    expect(body.data).toHaveLength(3);
  });

  test('a symbol that is unknown, or lists no options, has none', async () => {
    for (const symbol of ['NOPE', 'AAPL', 'BRK.B']) {
      const { status, body } = await list(symbol);
      expect(status).toBe(200);
      expect(body).toMatchObject({ data: [], meta: { count: 0, captured_at: null, underlying: symbol } });
    }
  });

  test('any credential may read it, whatever the symbol asks of data; none is 401', async () => {
    const low = await app.key({ apiTier: 'free', classification: null });
    expect((await list('SPX', '', { credential: low })).body.data).toEqual(['2026-11-18']);
    const bare = await list('SPX', '', { credential: null });
    expect([bare.status, bare.body.error.code]).toEqual([401, 'unauthenticated']);
  });

  test.each([
    ['$PY', '', 'symbol'],
    ['TOOLONGX', '', 'symbol'],
    ['SPY', 'at=now', 'at'],
    ['SPY', 'at=2026-11-17T25:00', 'at'],
    ['SPY', 'tz=Mars/Base', 'tz'],
    ['SPY', 'at=1&at=2', 'at'],
    ['SPY', 'expiry=friday', 'expiry'],
    ['SPY', 'strike_gte=600.5', 'strike_gte'],
    ['SPY', 'strike_lte=-1', 'strike_lte'],
  ])('400 names the parameter: %s?%s', async (symbol, query, parameter) => {
    const { status, body } = await list(symbol, query);
    expect([status, body.error.code]).toEqual([400, 'invalid_params']);
    expect(body.error.message).toMatch(new RegExp(`^${parameter}: `));
  });

  test('503 when no chain source is configured, 502 when it fails', async () => {
    const bare = await testApp({ nowMs, env: { SOURCES: 'bars' } });
    expect((await bare.get('/v2/chain/SPY/expirations')).status).toBe(503);
    await bare.close();
    const broken = await testApp({ nowMs });
    await broken.store.pool.query('ALTER TABLE chain_captures RENAME TO gone');
    expect((await broken.get('/v2/chain/SPY/expirations')).status).toBe(502);
    await broken.close();
  });
});
