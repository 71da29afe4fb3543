import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Json, type TestApp, testApp } from '../../support/app.ts';
import { gexCapture, newYork, saveCaptures } from '../../support/option-market.ts';

// Friday 2026-11-20, 12:00 in New York.
const nowMs = Date.parse('2026-11-20T17:00Z');
const session = '2026-11-18';
let app: TestApp;
let session3: string;

/** 30 strikes from 585 to 614, two expiries each; |net gex| is largest at the highest strikes. */
const curve = (scale: number) =>
  Array.from({ length: 30 }, (_, i) => i).flatMap((i) => [
    { strike: 585_000 + 1000 * i, expiry: session, gex: scale * (i - 3) },
    { strike: 585_000 + 1000 * i, expiry: '2026-12-18', gex: scale * 2, callOi: 5, putOi: 0, deltaAdj: null },
  ]);

/** The expiries of the curve, of which one fails its self-check. */
const failing = (failed: string) =>
  [session, '2026-12-18'].map((expiry) => ({
    expiry,
    maxPain: null,
    expectedMoveStraddle: 7,
    expectedMoveSigma: 8,
    atmIv: 0.2,
    moveRatio: 0.9,
    inconsistent: expiry === failed,
  }));

beforeAll(async () => {
  app = await testApp({ nowMs });
  session3 = await app.session();
  await saveCaptures(app.store, {
    gex: [
      gexCapture('SPY', newYork(session, '09:35'), curve(3)),
      gexCapture('SPY', newYork(session, '09:25'), curve(1), { flipPoint: null, spot: null, priorCloseSpot: null }),
      gexCapture('SPY', newYork(session, '09:30'), curve(2)),
      gexCapture('SPY', newYork('2026-11-20', '09:35'), curve(1)),
      gexCapture('SPY', newYork('2026-11-20', '12:05'), curve(1)),
      gexCapture('SPX', newYork(session, '09:35'), curve(1)),
      gexCapture('AAPL', newYork(session, '09:30'), curve(1), {
        flipStatus: 'fragile',
        spotStale: true,
        inconsistentExpiries: 1,
        expiries: failing(session),
      }),
      gexCapture('AAPL', newYork(session, '09:35'), curve(1), {
        flipStatus: 'remote',
        inconsistentExpiries: 1,
        expiries: failing('2026-12-18'),
      }),
      gexCapture('AAPL', newYork(session, '09:40'), curve(1), {
        flipStatus: null,
        flipPoint: 590,
        spotStale: null,
        inconsistentExpiries: null,
      }),
    ],
  });
});
afterAll(() => app.close());

const history = (query: string, credential: string = session3, symbol = 'SPY') =>
  app.get(`/v2/gex/${symbol}/history?${query}`, { credential });
const strikesOf = (capture: Json): number[] => capture.strikes.map((row: Json) => row.strike);

describe('GET /v2/gex/{symbol}/history', () => {
  test('serves the captures of a session oldest first, each with its price, totals and net rows', async () => {
    const { status, body } = await history(`date=${session}`);
    expect(status).toBe(200);
    expect(Object.keys(body.data)).toEqual(['symbol', 'session_date', 'captures']);
    expect(body.data).toMatchObject({ symbol: 'SPY', session_date: session });
    expect(body.data.captures.map((capture: Json) => capture.captured_at)).toEqual(
      ['09:25', '09:30', '09:35'].map((clock) => newYork(session, clock)),
    );
    const [first, , last] = body.data.captures;
    const { strikes, ...facts } = first;
    expect(facts).toEqual({
      captured_at: newYork(session, '09:25'),
      spot: null,
      prior_close_spot: null,
      net_gex: expect.closeTo(405, 6),
      flip_point: null,
    });
    expect(strikes).toHaveLength(30);
    expect(strikes[4]).toEqual({
      strike: 589_000,
      gex: 3,
      call_oi: 15,
      put_oi: 0,
      delta_adj: 0.5,
      gex_0dte: 1,
    });
    expect(strikesOf(first)).toEqual([...strikesOf(first)].sort((a, b) => a - b));
    expect(last).toMatchObject({ spot: 600.5, prior_close_spot: 598.25, flip_point: expect.any(Number) });
  });

  test('meta tells the count, the hours and the tier; no trim is in force for a site session', async () => {
    const { body, headers } = await history(`date=${session}`);
    expect(body.meta).toEqual({
      caps: { applied: [], tier: 'pro' },
      plane: 'archive',
      flip_status: ['no_crossing', 'crosses', 'crosses'],
      inconsistent_expiries: [],
      spot_stale: false,
      capture_count: 3,
      session_open: '09:30',
      session_close: '16:00',
    });
    expect(headers['cache-control']).toBe('private');
  });

  test('meta says what the flip point of each capture is worth, and what fails or is not checked of any', async () => {
    const meta = async (window: string) => {
      const { body } = await history(`date=${session}&${window}`, session3, 'AAPL');
      const { flip_status, inconsistent_expiries, spot_stale } = body.meta;
      return [flip_status, inconsistent_expiries, spot_stale];
    };
    expect(await meta('from=09:30&to=09:45')).toEqual([
      ['fragile', 'remote', null],
      ['2026-11-18', '2026-12-18'],
      true,
    ]);
    expect(await meta('from=09:35&to=09:45')).toEqual([['remote', null], ['2026-12-18'], null]);
    expect(await meta('from=09:40&to=09:45')).toEqual([[null], null, null]);
    expect(await meta('from=09:45')).toEqual([[], null, null]);
  });

  test('by_expiry gives a row for each strike and expiry, and expiry is there only then', async () => {
    const { body } = await history(`date=${session}&by_expiry=true&from=09:35`);
    const rows = body.data.captures[0].strikes;
    expect(rows).toHaveLength(60);
    expect(rows.slice(0, 3)).toEqual([
      { strike: 585_000, expiry: session, gex: -9, call_oi: 10, put_oi: null, delta_adj: -4.5, gex_0dte: -9 },
      { strike: 585_000, expiry: '2026-12-18', gex: 6, call_oi: 5, put_oi: 0, delta_adj: null, gex_0dte: null },
      { strike: 586_000, expiry: session, gex: -6, call_oi: 10, put_oi: null, delta_adj: -3, gex_0dte: -6 },
    ]);
    const plain = await history(`date=${session}&by_expiry=0`);
    expect('expiry' in plain.body.data.captures[0].strikes[0]).toBe(false);
  });

  test('the window is half-open on captured_at', async () => {
    const starts = async (query: string) =>
      (await history(`date=${session}&${query}`)).body.data.captures.map((capture: Json) => capture.captured_at);
    expect(await starts('from=09:30&to=09:35')).toEqual([newYork(session, '09:30')]);
    expect(await starts('from=09:30')).toEqual([newYork(session, '09:30'), newYork(session, '09:35')]);
    expect(await starts('to=09:30')).toEqual([newYork(session, '09:25')]);
    expect(await starts('from=10:00&to=10:05')).toEqual([]);
  });

  test('top keeps the strikes with the largest |gex| of each capture, ascending; the totals are those of the full curve', async () => {
    const full = await history(`date=${session}`);
    const { body } = await history(`date=${session}&top=3`);
    expect(body.meta).toMatchObject({ top: 3, capture_count: 3 });
    expect('top_defaulted' in body.meta).toBe(false);
    for (const [i, capture] of body.data.captures.entries()) {
      expect(strikesOf(capture)).toEqual([612_000, 613_000, 614_000]);
      expect(capture.net_gex).toBe(full.body.data.captures[i].net_gex);
      expect(capture.flip_point).toBe(full.body.data.captures[i].flip_point);
    }
  });

  test('with by_expiry, top counts strikes: every row of the strikes that net rows would keep', async () => {
    const { body } = await history(`date=${session}&top=2&by_expiry=true`);
    expect(strikesOf(body.data.captures[0])).toEqual([613_000, 613_000, 614_000, 614_000]);
  });

  test('an API key that names no top gets 20 and is told so; a named one is its own', async () => {
    const key = await app.key();
    const { body } = await history(`date=${session}`, key);
    expect(body.meta).toMatchObject({ top: 20, top_defaulted: true, caps: { applied: [] } });
    expect(body.data.captures.map((capture: Json) => capture.strikes.length)).toEqual([20, 20, 20]);
    const named = await history(`date=${session}&top=25`, key);
    expect(named.body.meta.top).toBe(25);
    expect('top_defaulted' in named.body.meta).toBe(false);
    expect(named.body.data.captures[0].strikes).toHaveLength(25);
  });

  test('a weekend, a holiday, a symbol nobody covers, an empty window: 200 without captures', async () => {
    const weekend = await history('date=2026-11-15');
    expect(weekend.status).toBe(200);
    expect(weekend.body).toEqual({
      data: { symbol: 'SPY', session_date: '2026-11-15', captures: [] },
      meta: {
        caps: { applied: [], tier: 'pro' },
        plane: 'archive',
        flip_status: [],
        inconsistent_expiries: null,
        spot_stale: null,
        capture_count: 0,
        session_open: null,
        session_close: null,
      },
    });
    const holiday = await history('date=2025-11-27');
    expect(holiday.body.meta).toMatchObject({ capture_count: 0, session_open: null, session_close: null });
    const halfDay = await history('date=2025-11-28');
    expect(halfDay.body.meta).toMatchObject({ capture_count: 0, session_open: '09:30', session_close: '13:00' });
    const unknown = await history(`date=${session}`, session3, 'nope');
    expect(unknown.status).toBe(200);
    expect(unknown.body.data).toEqual({ symbol: 'NOPE', session_date: session, captures: [] });
  });

  test('a past session carries a strong tag, answers If-None-Match with 304, and another window has another tag', async () => {
    const path = `/v2/gex/SPY/history?date=${session}`;
    const first = await app.get(path);
    expect(first.headers.etag).toMatch(/^"[\w-]{27}"$/);
    const tag = first.headers.etag!;
    const again = await app.get(path, { headers: { 'if-none-match': tag } });
    expect(again.status).toBe(304);
    expect(again.bytes).toHaveLength(0);
    expect(again.headers.etag).toBe(tag);
    expect(again.headers['x-request-id']).toBeDefined();
    const other = await app.get(`${path}&to=23:59`, { headers: { 'if-none-match': tag } });
    expect(other.status).toBe(200);
    expect(other.headers.etag).not.toBe(tag);
    const zipped = await app.get(path, { headers: { 'accept-encoding': 'gzip' } });
    expect(zipped.headers.etag).not.toBe(tag);
  });

  test("today's session is not kept by anyone, and shows nothing later than the server's clock", async () => {
    const { body, headers } = await history('date=2026-11-20');
    expect(body.meta).toMatchObject({ plane: 'live', capture_count: 1 });
    expect(headers['cache-control']).toBe('no-store');
    expect(headers.etag).toBeUndefined();
    const past = app.clock.nowMs;
    app.clock.nowMs = newYork('2026-11-20', '12:05');
    expect((await history('date=2026-11-20')).body.meta.capture_count).toBe(2);
    app.clock.nowMs = past;
  });

  test.each([
    ['', 'date'],
    ['date=', 'date'],
    ['date=2026-02-30', 'date'],
    ['date=20261118', 'date'],
    ['date=2026-11-21', 'date'],
    [`date=${session}&date=${session}`, 'date'],
    [`date=${session}&from=9:30`, 'from'],
    [`date=${session}&to=24:00`, 'to'],
    [`date=${session}&from=10:00&to=10:00`, 'from'],
    [`date=${session}&from=10:01&to=10:00`, 'from'],
    [`date=${session}&to=00:00`, 'to'],
    [`date=${session}&top=0`, 'top'],
    [`date=${session}&top=-1`, 'top'],
    [`date=${session}&top=ten`, 'top'],
    [`date=${session}&by_expiry=yes`, 'by_expiry'],
  ])('400 names the parameter: ?%s', async (query, parameter) => {
    const { status, body } = await history(query);
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code: 'invalid_params', message: expect.stringMatching(`^${parameter}: `) });
  });

  test('a malformed symbol is 400; 401 without a credential; 403 below the tier and without the declaration', async () => {
    expect((await history(`date=${session}`, session3, 'TOO.LONG.X')).body.error).toMatchObject({
      code: 'invalid_params',
      message: expect.stringMatching(/^symbol: /),
    });
    const bare = await app.get(`/v2/gex/SPY/history?date=${session}`, { credential: null });
    expect([bare.status, bare.body.error.code]).toEqual([401, 'unauthenticated']);
    const free = await history(`date=${session}`, await app.key({ apiTier: 'basic' }), 'SPX');
    expect([free.status, free.body.error.code]).toEqual([403, 'not_entitled_tier']);
    const undeclared = await history(`date=${session}`, await app.key({ classification: null }), 'spx');
    expect([undeclared.status, undeclared.body.error.code]).toEqual([403, 'attestation_required']);
    expect((await history(`date=${session}`, session3, 'SPX')).status).toBe(200);
  });

  test('503 when no chain source is configured, 502 when it fails', async () => {
    const bare = await testApp({ nowMs, env: { SOURCES: 'bars' } });
    const off = await bare.get(`/v2/gex/SPY/history?date=${session}`);
    expect([off.status, off.body.error.code]).toEqual([503, 'internal']);
    await bare.close();
    const broken = await testApp({ nowMs });
    await broken.store.pool.query('ALTER TABLE gex_captures RENAME TO gone');
    const failed = await broken.get(`/v2/gex/SPY/history?date=${session}`);
    expect([failed.status, failed.body.error.code]).toEqual([502, 'internal']);
    expect(JSON.stringify(failed.body)).not.toContain('gex_captures');
    await broken.close();
  });
});
