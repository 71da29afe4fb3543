import { parse } from 'csv-parse/sync';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { saveSplits } from '../../../src/store/market/splits.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { type Json, type TestApp, testApp } from '../../support/app.ts';
import { storeOffExchange } from '../../support/off-exchange.ts';
import { chainCapture, gexCapture, newYork, saveCaptures } from '../../support/option-market.ts';

const [yesterday, today, expiry] = ['2026-11-19', '2026-11-20', '2026-12-18'];
const nowMs = newYork(today, '12:00');
const captured = { yesterday: newYork(yesterday, '15:55'), today: newYork(today, '11:55') };
const rows = [
  { strike: 590_000, expiry, gex: -300 },
  { strike: 600_000, expiry, gex: 100 },
  { strike: 610_000, expiry, gex: 500 },
];
// At today's noon this one is still to come, at the evening it is over.
const zeroDte = {
  expiry: today,
  maxPain: 599_000,
  expectedMoveStraddle: 3,
  expectedMoveSigma: 4,
  atmIv: 0.2,
  moveRatio: 1.1,
  inconsistent: true,
};
const later = {
  expiry,
  maxPain: 595_500,
  expectedMoveStraddle: 20,
  expectedMoveSigma: 25.5,
  atmIv: 0.2,
  moveRatio: 1,
  inconsistent: false,
};
let app: TestApp;

beforeAll(async () => {
  app = await testApp({ nowMs });
  const gex = [
    gexCapture('SPX', captured.yesterday, rows, { zeroGamma: null, expiries: [zeroDte, later], callWall: null }),
    gexCapture('SPX', captured.today, rows, {
      spot: 601,
      impliedSpot: 602,
      spotStale: true,
      expiries: [zeroDte, later],
    }),
    gexCapture('SPY', captured.yesterday, rows, { spot: 600, expiries: [later] }),
    gexCapture('MSFT', captured.today, rows, { spot: 600, expiries: [], flipStatus: 'fragile' }),
  ];
  await saveCaptures(app.store, {
    gex,
    chains: gex.map(({ underlying, capturedAt }) =>
      chainCapture(underlying, capturedAt, [], { partial: underlying === 'MSFT' }),
    ),
  });
  await storeOffExchange(app.store, 'SPY', {
    '2026-11-18': { buckets: 2 },
    [yesterday]: { buckets: 7 },
    [today]: { buckets: 3 },
  });
  await inTransaction(app.store, async (tx) => {
    await tx.query(
      `INSERT INTO live_quotes (symbol, session_date, spot, event_ts_ms, volume, official_close)
       VALUES ('SPY', $1, 302.5, $2, 1000, 300)`,
      [today, nowMs - 5000],
    );
    await saveSplits(tx, [{ symbol: 'SPY', exDate: today, ratio: 2, declared: null }]);
    tx.changes.add('market', null);
  });
});
afterEach(() => {
  app.clock.nowMs = nowMs;
});
afterAll(() => app.close());

const get = (symbol: string, query = '', sending = {}) => app.get(`/v2/levels/${symbol}${query}`, sending);
const priceOf = ({ body }: { body: Json }) =>
  Object.fromEntries(body.data.levels.map(({ kind, rank, price }: Json) => [rank ? `${kind} ${rank}` : kind, price]));

describe('GET /v2/levels/{symbol}', () => {
  test('levels of an index, key for key: moves are from the price that options are priced with', async () => {
    const { status, body } = await get('SPX');
    expect(status).toBe(200);
    const level = (kind: string, price: number, more: object) => ({
      kind,
      price,
      distance: expect.closeTo(price - 601, 9),
      distance_pct: expect.closeTo((price / 601 - 1) * 100, 9),
      captured_at: captured.today,
      session_date: today,
      as_of: captured.today,
      expiry: null,
      rank: null,
      status: 'stands',
      ...more,
    });
    const move = { expiry: today, status: 'inconsistent' };
    expect(body).toStrictEqual({
      data: {
        symbol: 'SPX',
        spot: 601,
        levels: [
          level('call_wall', 610, {}),
          level('put_wall', 590, {}),
          // −300 up to 590, −200 up to 600, 300 up to 610.
          level('flip', 604, { status: 'crosses' }),
          level('zero_gamma', 601.125, {}),
          level('max_pain', 599, { expiry: today }),
          level('expected_move_high', 605, move),
          level('expected_move_low', 599, move),
          level('sigma_move_high', 606, move),
          level('sigma_move_low', 598, move),
        ],
      },
      meta: {
        caps: { applied: [], tier: 'pro' },
        plane: 'live',
        inconsistent_expiries: [today],
        spot_stale: true,
        count: 9,
        read_at_ms: expect.any(Number),
      },
    });
  });

  test('after the close of its last session an expiry has no more levels', async () => {
    app.clock.nowMs = newYork(today, '16:20');
    const { body } = await get('SPX');
    const ofExpiry = body.data.levels.filter((level: Json) => level.expiry !== null);
    expect(ofExpiry.map((level: Json) => [level.kind, level.price, level.expiry, level.status])).toEqual([
      ['max_pain', 595.5, expiry, 'stands'],
      ['expected_move_high', 622, expiry, 'stands'],
      ['expected_move_low', 582, expiry, 'stands'],
      ['sigma_move_high', 627.5, expiry, 'stands'],
      ['sigma_move_low', 576.5, expiry, 'stands'],
    ]);
  });

  test('a basis shifts the prices of an index, not the distances, and is in meta', async () => {
    const [plain, shifted] = await Promise.all([get('SPX'), get('spx', '?basis=-35.25')]);
    for (const [i, { price, ...level }] of shifted.body.data.levels.entries())
      expect({ ...level, price: price + 35.25 }).toEqual(plain.body.data.levels[i]);
    expect(shifted.body.data.spot).toBe(601);
    expect([plain.body.meta.basis, shifted.body.meta.basis]).toEqual([undefined, -35.25]);
  });

  test.each([
    ['SPX', 'NaN', 'basis: expected a dollar amount, got "NaN"'],
    ['SPX', '1e9', 'basis: expected a dollar amount, got "1e9"'],
    ['SPX', '100001', 'basis: expected dollars from -100000 to 100000'],
  ])('%s with basis=%s is 400', async (symbol, basis, message) => {
    const { status, body } = await get(symbol, `?basis=${basis}`);
    expect([status, body.error]).toEqual([400, { code: 'invalid_params', message, details: { parameter: 'basis' } }]);
    const graph = await app.graphql(
      `{ symbol(symbol: "${symbol}") { levels(basis: ${Number(basis) || 1e308}) { spot } } }`,
    );
    expect(graph.errors?.[0].extensions.code).toBe('invalid_params');
  });

  test('levels of before a split are in shares of the spot; off exchange the five largest of the last session', async () => {
    const { body } = await get('SPY');
    expect(body.data.spot).toBe(302.5);
    expect(priceOf({ body })).toEqual({
      call_wall: 305,
      put_wall: 295,
      flip: 302,
      zero_gamma: 300.5625,
      max_pain: 297.75,
      expected_move_high: 310,
      expected_move_low: 290,
      sigma_move_high: 312.75,
      sigma_move_low: 287.25,
      ...Object.fromEntries([1, 2, 3, 4, 5].map((rank) => [`off_exchange ${rank}`, (599.125 + rank) / 2])),
    });
    const last = body.data.levels.at(-1);
    expect(last).toMatchObject({ captured_at: null, session_date: yesterday, status: 'stands' });
    expect(last.distance).toBeCloseTo(604.125 / 2 - 302.5, 9);
  });

  test('off-exchange levels that the caller may not read are omitted and named', async () => {
    for (const account of [{ apiTier: 'free' }, { classification: null }] as const) {
      const credential = await app.key(account);
      const { status, body } = await get('SPY', '', { credential });
      expect([status, body.meta.restricted]).toEqual([200, ['off_exchange']]);
      expect(body.data.levels.map(({ kind }: Json) => kind)).not.toContain('off_exchange');
      const text = await get('SPY', '?format=text', { credential });
      expect(text.bytes.toString()).not.toContain('Off-exchange');
      expect(JSON.parse(text.headers['x-itm-extra'] as string).restricted).toEqual(['off_exchange']);
    }
    const index = await get('SPX', '', { credential: await app.key({ apiTier: 'free', classification: null }) });
    expect(index.status).toBe(403);
  });

  test('the status says when a chain lacks contracts, and when there is no level', async () => {
    const { body } = await get('MSFT');
    const statuses = body.data.levels.map(({ kind, status }: Json) => [kind, status]);
    expect(Object.fromEntries(statuses)).toEqual({
      call_wall: 'partial',
      put_wall: 'partial',
      flip: 'fragile',
      zero_gamma: 'partial',
      max_pain: 'none',
      expected_move_high: 'none',
      expected_move_low: 'none',
      sigma_move_high: 'none',
      sigma_move_low: 'none',
    });
    const none = await get('AAPL');
    expect([none.body.data.levels, none.body.meta.note]).toEqual([[], 'No option chain of AAPL has been captured.']);
  });

  test('CSV has a row per level; the text is one line of those that exist', async () => {
    const [json, csv, accepted, text, plain] = await Promise.all([
      get('SPX', '?basis=1.5'),
      get('SPX', '?basis=1.5&format=csv', { headers: { accept: 'application/json' } }),
      get('SPX', '?basis=1.5', { headers: { accept: 'text/csv' } }),
      get('SPX', '?basis=1.5&format=text'),
      get('SPX', '?basis=1.5', { headers: { accept: 'text/plain' } }),
    ]);
    expect(csv.headers['content-type']).toMatch(/^text\/csv/);
    expect(accepted.bytes.equals(csv.bytes)).toBe(true);
    const written = parse(csv.bytes, { columns: true }) as Json[];
    expect(written.map(({ kind, price, status }) => [kind, Number(price), status])).toEqual(
      json.body.data.levels.map(({ kind, price, status }: Json) => [kind, price, status]),
    );
    expect(JSON.parse(csv.headers['x-itm-extra'] as string)).toMatchObject({ basis: 1.5 });
    expect(text.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(plain.bytes.equals(text.bytes)).toBe(true);
    expect(text.bytes.toString()).toBe(
      'SPX: Call wall, 611.5, Put wall, 591.5, Flip, 605.5, Zero gamma, 602.625, Max pain, 600.5, ' +
        'Expected move high, 606.5, Expected move low, 600.5, Sigma move high, 607.5, Sigma move low, 599.5\n',
    );
    const wrong = await get('SPX', '?format=xml');
    expect([wrong.status, wrong.body.error.message]).toEqual([
      400,
      'format: expected one of json, csv, text, got "xml"',
    ]);
  });

  test('as of an instant: the capture, the spot and the off-exchange session of then, at every door', async () => {
    const at = newYork(yesterday, '16:05');
    const [rest, graph] = await Promise.all([
      get('SPX', `?at=${at}`),
      app.graphql(`{
        symbol(symbol: "SPX") { levels(at: "${at}") { levels { kind price capturedAt } meta { at } } }
        asOf(at: "${at}") { symbol(symbol: "SPX") { levels { levels { kind price capturedAt } meta { at } } } }
        cut: asOf(at: "${at}") {
          symbol(symbol: "SPX") { levels(at: "${nowMs}") { levels { kind price capturedAt } meta { at caps { applied } } } }
        }
        spy: symbol(symbol: "SPY") { levels(at: "${at}") { spot levels { kind sessionDate price } } }
      }`),
    ]);
    const levels = rest.body.data.levels.map(({ kind, price, captured_at }: Json) => ({
      kind,
      price,
      capturedAt: captured_at,
    }));
    expect(levels.slice(0, 2)).toEqual([
      { kind: 'call_wall', price: null, capturedAt: captured.yesterday },
      { kind: 'put_wall', price: 590, capturedAt: captured.yesterday },
    ]);
    expect(graph.errors).toBeUndefined();
    expect(graph.data.symbol.levels).toEqual({ levels, meta: { at } });
    expect(graph.data.asOf.symbol.levels).toEqual({ levels, meta: { at } });
    expect(graph.data.cut.symbol.levels).toEqual({ levels, meta: { at, caps: { applied: ['at_clamped'] } } });
    const { spot, levels: spy } = graph.data.spy.levels;
    // Yesterday's shares were not split, and yesterday's off-exchange data is published this morning.
    expect(spot).toBe(600);
    expect(spy[0]).toEqual({ kind: 'call_wall', sessionDate: yesterday, price: 610 });
    expect(new Set(spy.slice(9).map((level: Json) => level.sessionDate))).toEqual(new Set(['2026-11-18']));
  });
});
