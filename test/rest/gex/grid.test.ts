import protobuf from 'protobufjs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { epochDay } from '../../../src/core/domain/market-time.ts';
import { type Json, type TestApp, testApp } from '../../support/app.ts';
import { chainCapture, gexCapture, newYork, saveCaptures } from '../../support/option-market.ts';

// Friday 2026-11-20, 12:00 in New York.
const nowMs = Date.parse('2026-11-20T17:00Z');
const [before, today, later] = ['2026-11-19', '2026-11-20', '2026-12-18'];
let app: TestApp;

const rows = [
  { strike: 590_000, expiry: today, gex: -601, putOi: 4, callOi: null },
  { strike: 600_000, expiry: today, gex: 1201, deltaAdj: null },
  { strike: 600_000, expiry: later, gex: -300.5, deltaAdj: -60.05, callOi: 1, putOi: 2 },
  { strike: 610_000, expiry: later, gex: 30, callOi: null, putOi: null },
];

const checked = {
  maxPain: null,
  expectedMoveStraddle: 7,
  expectedMoveSigma: 8,
  atmIv: 0.2,
  moveRatio: 0.9,
};
const older = {
  methodologyVersion: '2',
  flipStatus: null,
  callWall: null,
  putWall: null,
  spotStale: null,
  inconsistentExpiries: null,
  impliedSpot: null,
};

beforeAll(async () => {
  app = await testApp({ nowMs });
  await saveCaptures(app.store, {
    gex: [
      gexCapture('SPY', newYork(before, '10:00'), rows.slice(2), { flipPoint: 777.5 }),
      gexCapture('SPY', newYork(before, '16:00'), rows, { spot: null, priorCloseSpot: null }),
      gexCapture('SPY', newYork(today, '11:55'), rows),
      gexCapture('SPY', newYork(today, '16:10'), rows),
      gexCapture('AAPL', newYork(today, '11:55'), rows, { byExpiry: [] }),
      gexCapture('SPX', newYork(today, '11:55'), rows),
      gexCapture('MSFT', newYork(today, '11:55'), rows, {
        flipStatus: 'fragile',
        spotStale: true,
        inconsistentExpiries: 1,
        expiries: [today, later].map((expiry) => ({ ...checked, expiry, inconsistent: expiry === today })),
      }),
      ...['10:00', '10:05'].map((clock) => gexCapture('NVDA', newYork(before, clock), rows, older)),
      gexCapture('NVDA', newYork(before, '10:10'), rows, { ...older, flipPoint: 777.5 }),
      gexCapture('NVDA', newYork(before, '10:15'), rows, { ...older, flipPoint: null }),
    ],
    chains: [chainCapture('NVDA', newYork(before, '10:05'), [], { partial: true })],
  });
});
afterAll(() => app.close());

const grid = (query = '', symbol = 'SPY', sending = {}) => app.get(`/v2/gex/${symbol}/grid?${query}`, sending);

describe('GET /v2/gex/{symbol}/grid', () => {
  test('serves the latest capture by strike with dollars and shares; unknown keys of rows are absent', async () => {
    const { status, body, headers } = await grid();
    expect(status).toBe(200);
    expect(body).toEqual({
      data: {
        captured_at: newYork(today, '11:55'),
        spot: 600.5,
        prior_close_spot: 598.25,
        net_gex: 329.5,
        net_gex_shares: 329.5 / 600.5,
        flip_point: expect.any(Number),
        max_abs_gex: 900.5,
        max_abs_gex_shares: 900.5 / 600.5,
        strikes: [
          {
            strike: 590_000,
            gex: -601,
            gex_shares: -601 / 600.5,
            delta_adj: -300.5,
            delta_adj_shares: -300.5 / 600.5,
            gex_0dte: -601,
            gex_0dte_shares: -601 / 600.5,
            put_oi: 4,
          },
          {
            strike: 600_000,
            gex: 900.5,
            gex_shares: 900.5 / 600.5,
            delta_adj: -60.05,
            delta_adj_shares: -60.05 / 600.5,
            gex_0dte: 1201,
            gex_0dte_shares: 2,
            call_oi: 11,
            put_oi: 2,
          },
          { strike: 610_000, gex: 30, gex_shares: 30 / 600.5, delta_adj: 15, delta_adj_shares: 15 / 600.5 },
        ],
      },
      meta: {
        caps: { applied: [], tier: 'pro' },
        plane: 'live',
        read_at_ms: app.clock.nowMs,
        flip_status: 'crosses',
        inconsistent_expiries: [],
        spot_stale: false,
        date: today,
        underlying: 'SPY',
        strike_count: 3,
      },
    });
    expect(headers['cache-control']).toBe('no-store');
  });

  test('at takes the last capture at or before a time as stored; a bare date that session’s last', async () => {
    const noon = await grid(`at=${before}T12:00`);
    expect(noon.body.data).toMatchObject({ captured_at: newYork(before, '10:00'), flip_point: 777.5 });
    expect(noon.headers).toMatchObject({ 'cache-control': 'private', etag: expect.any(String) });
    const whole = await grid(`at=${before}&tz=Asia/Tokyo`);
    expect(whole.body.data).toMatchObject({
      captured_at: newYork(before, '16:00'),
      spot: null,
      net_gex_shares: null,
      max_abs_gex_shares: null,
    });
    expect(whole.body.data.strikes[0]).toMatchObject({ gex_shares: null, delta_adj_shares: null });
    expect(whole.body.meta).toMatchObject({ plane: 'archive', date: before });
  });

  test('expiries and dte choose expiries, and the totals are theirs', async () => {
    const one = await grid(`expiries=${later}`);
    expect(one.body.data).toMatchObject({ net_gex: -270.5, max_abs_gex: 300.5, flip_point: null });
    expect(one.body.data.strikes.map((row: Json) => [row.strike, row.gex])).toEqual([
      [600_000, -300.5],
      [610_000, 30],
    ]);
    const zero = await grid('dte=0');
    expect(zero.body.data).toMatchObject({ net_gex: 600, flip_point: expect.closeTo(590 + (10 * 601) / 1201, 9) });
    expect(zero.body.meta).toMatchObject({ dte: 0, dte_expiry: today, strike_count: 2 });
    const past = await grid(`dte=0&at=${before}`);
    expect(past.body).toMatchObject({ data: { net_gex: 0, strikes: [] }, meta: { dte: 0, dte_expiry: before } });
    const both = await grid(`expiries=${later},${today}`);
    expect(both.body.data.net_gex).toBe(329.5);
  });

  test('meta says what the flip point is worth and which prices contradict each other, of the expiries shown', async () => {
    const meta = async (query: string, symbol = 'SPY') => {
      const { flip_status, inconsistent_expiries, spot_stale } = (await grid(query, symbol)).body.meta;
      return [flip_status, inconsistent_expiries, spot_stale];
    };
    expect(await meta('', 'MSFT')).toEqual(['fragile', [today], true]);
    // Some expiries of a whole chain are no part of one.
    expect(await meta(`expiries=${today}`, 'MSFT')).toEqual(['crosses', [today], true]);
    expect(await meta(`expiries=${later},${today}`, 'MSFT')).toEqual(['fragile', [today], true]);
    expect(await meta(`expiries=${later}`, 'MSFT')).toEqual(['no_crossing', [], true]);
    expect(await meta('expiries=2026-11-27', 'MSFT')).toEqual(['no_strikes', [], true]);
    expect(await meta('', 'NONE')).toEqual([null, null, null]);
  });

  test('of a capture stored without them, meta says what its rows show', async () => {
    const meta = async (at: string) => (await grid(`at=${before}T${at}`, 'NVDA')).body.meta;
    const unknown = { inconsistent_expiries: null, spot_stale: null };
    expect(await meta('10:00')).toMatchObject({ flip_status: null, ...unknown });
    expect(await meta('10:05')).toMatchObject({ flip_status: 'partial', ...unknown });
    expect(await meta('10:10')).toMatchObject({ flip_status: 'remote', ...unknown });
    expect(await meta('10:15')).toMatchObject({ flip_status: 'no_crossing', ...unknown });
  });

  test('top cuts strikes and leaves the totals; by_expiry gives rows by expiry', async () => {
    const { body } = await grid('top=1&by_expiry=1', 'SPY', { credential: await app.key() });
    expect(body.data).toMatchObject({ net_gex: 329.5, max_abs_gex: 1201 });
    expect(body.data.strikes.map((row: Json) => [row.strike, row.expiry, row.gex])).toEqual([
      [600_000, today, 1201],
      [600_000, later, -300.5],
    ]);
    expect(body.meta.strike_count).toBe(1);
    expect('top' in body.meta).toBe(false);
    expect((await grid('', 'SPY', { credential: await app.key() })).body.data.strikes).toHaveLength(3);
  });

  test('after the close a live grid leaves out what has settled and says so; a stored one does not', async () => {
    app.clock.nowMs = newYork(today, '16:15');
    const live = await grid();
    expect(live.body.data).toMatchObject({ captured_at: newYork(today, '16:10'), net_gex: -270.5 });
    expect(live.body.meta).toMatchObject({ expired_filtered: true, strike_count: 2 });
    const stored = await grid(`at=${today}`);
    expect(stored.body.data.net_gex).toBe(329.5);
    expect('expired_filtered' in stored.body.meta).toBe(false);
    app.clock.nowMs = nowMs;
  });

  test('net rows are served of a capture that holds no others; nothing captured is null and empty', async () => {
    expect((await grid('', 'AAPL')).body.data.strikes).toHaveLength(3);
    const none = await grid('', 'NOPE');
    expect(none.status).toBe(200);
    expect(none.body.data).toEqual({
      captured_at: null,
      spot: null,
      prior_close_spot: null,
      net_gex: null,
      net_gex_shares: null,
      flip_point: null,
      max_abs_gex: null,
      max_abs_gex_shares: null,
      strikes: [],
    });
    expect(none.body.meta).toMatchObject({ date: today, underlying: 'NOPE', strike_count: 0 });
  });

  test('protobuf says the same as JSON', async () => {
    const { root } = protobuf.parse((await app.get('/v2/rest-protocol.proto')).bytes.toString());
    const message = root.lookupType('tapegraph.rest.v2.GexGridResponse');
    const { body } = await grid('by_expiry=true');
    const { bytes, headers } = await grid('by_expiry=true', 'SPY', { headers: { accept: 'application/x-protobuf' } });
    expect(headers['content-type']).toBe('application/x-protobuf');
    const decoded = message.toObject(message.decode(bytes), { longs: Number }) as Json;
    expect(decoded).toEqual({
      capturedAtMs: body.data.captured_at,
      spot: body.data.spot,
      priorCloseSpot: body.data.prior_close_spot,
      netGex: body.data.net_gex,
      flipPoint: body.data.flip_point,
      maxAbsGex: body.data.max_abs_gex,
      netGexShares: body.data.net_gex_shares,
      maxAbsGexShares: body.data.max_abs_gex_shares,
      rows: body.data.strikes.map((row: Json) =>
        Object.fromEntries(
          Object.entries({
            strikeThousandths: row.strike,
            gex: row.gex,
            gex_0dte: row.gex_0dte,
            callOi: row.call_oi,
            putOi: row.put_oi,
            deltaAdj: row.delta_adj ?? undefined,
            expiryEpochDay: epochDay(row.expiry),
            gexShares: row.gex_shares,
            gex_0dteShares: row.gex_0dte_shares,
            deltaAdjShares: row.delta_adj_shares ?? undefined,
          }).filter(([, value]) => value !== undefined),
        ),
      ),
    });
    expect(JSON.parse(headers['x-itm-extra'] as string)).toMatchObject({ underlying: 'SPY', strike_count: 3 });
    const chosen = await grid('dte=0', 'SPY', { headers: { accept: 'application/x-protobuf' } });
    expect(message.decode(chosen.bytes)).toMatchObject({ adhoc: true });
  });

  test.each([
    ['dte=1', 'dte'],
    ['dte=0&expiries=2026-12-18', 'dte'],
    ['expiries=2026-12-18,soon', 'expiries'],
    ['top=0', 'top'],
    ['at=later', 'at'],
    ['tz=Nowhere', 'tz'],
    ['by_expiry=maybe', 'by_expiry'],
  ])('400 names the parameter: ?%s', async (query, parameter) => {
    const { status, body } = await grid(query);
    expect([status, body.error.code]).toEqual([400, 'invalid_params']);
    expect(body.error.message).toMatch(new RegExp(`^${parameter}: `));
  });

  test('403 by the rule of every symbol', async () => {
    const low = await grid('', 'SPX', { credential: await app.key({ apiTier: 'basic' }) });
    expect([low.status, low.body.error.code]).toEqual([403, 'not_entitled_tier']);
  });
});
