import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Json, type TestApp, testApp, testSymbols } from '../../support/app.ts';
import { chainCapture, gexCapture, newYork, saveCaptures } from '../../support/option-market.ts';
import { statementsOf, withoutCommits } from '../../support/statements.ts';

// Friday 2026-11-20, 12:00 in New York.
const nowMs = Date.parse('2026-11-20T17:00Z');
const [wednesday, thursday, friday, later] = ['2026-11-18', '2026-11-19', '2026-11-20', '2026-12-18'];
let app: TestApp;

const rows = [
  { strike: 590_000, expiry: friday, gex: -601, putOi: 4, callOi: null },
  { strike: 600_000, expiry: friday, gex: 1201, deltaAdj: null },
  { strike: 600_000, expiry: later, gex: -300.5, deltaAdj: -60.05, callOi: 1, putOi: 2 },
];
const many = Array.from({ length: 210 }, (_, i) => `S${String(i).padStart(3, '0')}`);

beforeAll(async () => {
  const more = many.map((symbol, i) => ({ ...testSymbols[0]!, symbol, sector: i < 200 ? 'of 200' : 'of 10' }));
  app = await testApp({ nowMs, symbols: [...testSymbols, ...more] });
  const whole = { gammaAbsent: 0 };
  await saveCaptures(app.store, {
    gex: [
      gexCapture('SPY', newYork(wednesday, '09:25'), rows.slice(1)),
      gexCapture('SPY', newYork(wednesday, '16:15'), rows.slice(1)),
      gexCapture('SPY', newYork(thursday, '09:25'), rows.slice(2), whole),
      gexCapture('SPY', newYork(thursday, '09:30'), rows.slice(1), whole),
      gexCapture('SPY', newYork(thursday, '15:55'), rows.slice(2), { spot: null, ...whole }),
      gexCapture('SPY', newYork(friday, '09:29'), rows.slice(2)),
      gexCapture('SPY', newYork(friday, '09:35'), rows),
      gexCapture('SPY', newYork(friday, '09:40'), rows.slice(1)),
      gexCapture('AAPL', newYork(friday, '12:05'), rows, whole),
      gexCapture('MSFT', newYork(friday, '10:00'), rows, { byExpiry: [], ...whole }),
      gexCapture('SPX', newYork(friday, '10:00'), rows),
      ...many.flatMap((symbol) => [
        gexCapture(symbol, newYork(thursday, '15:55'), rows, whole),
        gexCapture(symbol, newYork(friday, '09:30'), rows, whole),
      ]),
    ],
    chains: [
      chainCapture('SPY', newYork(thursday, '09:30'), []),
      chainCapture('SPY', newYork(thursday, '15:55'), [], { partial: true }),
    ],
  });
});
afterAll(() => app.close());

const reference = (query = '', symbol = 'SPY', sending = {}) =>
  app.get(`/v2/gex/${symbol}/reference?${query}`, sending);

describe('GET /v2/gex/{symbol}/reference', () => {
  test('serves the first regular-session capture by strike and expiry, key for key', async () => {
    const { status, body, headers } = await reference();
    expect(status).toBe(200);
    expect(body).toStrictEqual({
      data: {
        symbol: 'SPY',
        basis: 'open',
        session_date: friday,
        reference_session_date: friday,
        captured_at: newYork(friday, '09:35'),
        spot: 600.5,
        implied_spot: 600.5,
        spot_stale: false,
        inconsistent_expiries: 0,
        net_gex: 299.5,
        complete: false,
        contract_count: 6,
        gamma_absent: 3,
        strikes: [
          {
            strike: 590_000,
            expiry: friday,
            gex: -601,
            call_oi: null,
            put_oi: 4,
            delta_adj: -300.5,
            gex_0dte: -601,
            gex_shares: -601 / 600.5,
            delta_adj_shares: -300.5 / 600.5,
          },
          {
            strike: 600_000,
            expiry: friday,
            gex: 1201,
            call_oi: 10,
            put_oi: null,
            delta_adj: null,
            gex_0dte: 1201,
            gex_shares: 2,
            delta_adj_shares: null,
          },
          {
            strike: 600_000,
            expiry: later,
            gex: -300.5,
            call_oi: 1,
            put_oi: 2,
            delta_adj: -60.05,
            gex_0dte: null,
            gex_shares: -300.5 / 600.5,
            delta_adj_shares: -60.05 / 600.5,
          },
        ],
      },
      meta: {
        caps: { applied: [], tier: 'pro' },
        plane: 'live',
        read_at_ms: app.clock.nowMs,
        flip_status: 'crosses',
        available: true,
      },
    });
    expect(headers['cache-control']).toBe('no-store');
  });

  test('a past session’s is sealed; the open itself counts, what is before it does not', async () => {
    const { body, headers } = await reference(`date=${thursday}&basis=open`, 'SPY', { credential: await app.key() });
    expect(body.data).toMatchObject({ captured_at: newYork(thursday, '09:30'), complete: true, gamma_absent: 0 });
    // A key gets every strike: this route has no default trim.
    expect(body.data.strikes).toHaveLength(2);
    expect(body.meta.plane).toBe('archive');
    expect(headers).toMatchObject({ 'cache-control': 'private', etag: expect.stringMatching(/^"/) });
    const again = await reference(`date=${thursday}&basis=open`, 'SPY', {
      headers: { 'if-none-match': headers.etag as string },
    });
    expect(again.status).toBe(304);
  });

  test('prev_close is the last capture of the session before, whenever in it; sealed though the date is today', async () => {
    const { body, headers } = await reference('basis=prev_close');
    expect(body.data).toMatchObject({
      basis: 'prev_close',
      session_date: friday,
      reference_session_date: thursday,
      captured_at: newYork(thursday, '15:55'),
      spot: null,
      net_gex: -300.5,
    });
    // Every gamma is there, but the chain was given in part.
    expect(body.data).toMatchObject({ gamma_absent: 0, complete: false });
    expect(body.meta).toMatchObject({ plane: 'archive', available: true });
    expect(headers.etag).toBeDefined();
    const before = await reference(`basis=prev_close&date=${thursday}`);
    expect(before.body.data.captured_at).toBe(newYork(wednesday, '16:15'));
  });

  test.each([
    ['a session with captures before the open and after the close only', `date=${wednesday}`, wednesday, 'open'],
    ['a date without trading', 'date=2026-11-15', '2026-11-15', 'open'],
    ['a session before which nothing was captured', `date=${wednesday}&basis=prev_close`, wednesday, 'prev_close'],
  ])('%s has none: nulls, an empty list and available false', async (_name, query, sessionDate, basis) => {
    const { status, body } = await reference(query);
    expect(status).toBe(200);
    expect(body).toStrictEqual({
      data: {
        symbol: 'SPY',
        basis,
        session_date: sessionDate,
        reference_session_date: null,
        captured_at: null,
        spot: null,
        implied_spot: null,
        spot_stale: null,
        inconsistent_expiries: null,
        net_gex: null,
        complete: null,
        contract_count: null,
        gamma_absent: null,
        strikes: [],
      },
      meta: { caps: { applied: [], tier: 'pro' }, plane: 'archive', flip_status: null, available: false },
    });
  });

  test('nothing later than the clock is served, and an unknown ticker has nothing', async () => {
    expect((await reference('', 'AAPL')).body).toMatchObject({ data: { captured_at: null }, meta: { plane: 'live' } });
    expect((await reference('', 'NOPE')).body).toMatchObject({ data: { symbol: 'NOPE' }, meta: { available: false } });
    app.clock.nowMs = newYork(friday, '12:05');
    expect((await reference('', 'AAPL')).body.data.captured_at).toBe(newYork(friday, '12:05'));
    app.clock.nowMs = nowMs;
  });

  test('without date the session that ran last is meant on a weekend; its day before is then that of prev_close', async () => {
    app.clock.nowMs = Date.parse('2026-11-22T17:00Z');
    expect((await reference()).body).toMatchObject({
      data: { session_date: friday, captured_at: newYork(friday, '09:35') },
      meta: { plane: 'archive' },
    });
    expect((await reference('date=2026-11-22&basis=prev_close')).body.data).toMatchObject({
      session_date: '2026-11-22',
      reference_session_date: friday,
      captured_at: newYork(friday, '09:40'),
    });
    app.clock.nowMs = nowMs;
  });

  test('net rows, with a null expiry, of a capture that holds no others', async () => {
    const { body } = await reference('', 'MSFT');
    expect(body.data.strikes.map((row: Json) => [row.strike, row.expiry, row.gex])).toEqual([
      [590_000, null, -601],
      [600_000, null, 900.5],
    ]);
  });

  test.each([
    ['date=2026-11-21', 'date'],
    ['date=soon', 'date'],
    ['basis=close', 'basis'],
    ['basis=open&basis=open', 'basis'],
  ])('400 names the parameter: ?%s', async (query, parameter) => {
    const { status, body } = await reference(query);
    expect([status, body.error.code]).toEqual([400, 'invalid_params']);
    expect(body.error.message).toMatch(new RegExp(`^${parameter}: `));
  });

  test('401 without a credential, 403 by the rule of every symbol', async () => {
    expect((await reference('', 'SPY', { credential: null })).status).toBe(401);
    const low = await reference('', 'SPX', { credential: await app.key({ apiTier: 'basic' }) });
    expect([low.status, low.body.error.code]).toEqual([403, 'not_entitled_tier']);
    const undeclared = await reference('', 'SPX', { credential: await app.key({ classification: null }) });
    expect([undeclared.status, undeclared.body.error.code]).toEqual([403, 'attestation_required']);
  });
});

describe('Symbol.gex.reference', () => {
  test('gives the same, and an error at its path where it may not be read while the rest stands', async () => {
    const credential = await app.key({ apiTier: 'free' });
    const { data, errors } = await app.graphql(
      `{ spy: symbol(symbol: "SPY") { gex { reference { capturedAt netGex strikes { gexShares } meta { available } } } }
         spx: symbol(symbol: "SPX") { name gex { reference(basis: prev_close) { netGex } } } }`,
      {},
      { credential },
    );
    expect(data.spy.gex.reference).toMatchObject({
      capturedAt: newYork(friday, '09:35'),
      netGex: 299.5,
      meta: { available: true },
    });
    expect(data.spy.gex.reference.strikes[0].gexShares).toBe(-601 / 600.5);
    expect(data.spx).toEqual({ name: 'SPX Inc.', gex: { reference: null } });
    expect(errors).toMatchObject([{ path: ['spx', 'gex', 'reference'], extensions: { code: 'not_entitled_tier' } }]);
  });

  test('10 and 200 symbols take the same number of SQL statements', async () => {
    const counts: number[] = [];
    for (const size of [10, 200]) {
      const statements = await statementsOf(async () => {
        const { data, errors } = await app.graphql(
          `query Q($sector: String!) { symbols(first: 200, sector: $sector) { nodes { gex {
            open: reference { netGex complete } close: reference(basis: prev_close) { netGex complete } } } } }`,
          { sector: `of ${size}` },
        );
        expect(errors).toBeUndefined();
        expect(data.symbols.nodes).toHaveLength(size);
        for (const { gex } of data.symbols.nodes)
          expect(gex).toEqual({ open: { netGex: 299.5, complete: true }, close: { netGex: 299.5, complete: true } });
      });
      counts.push(withoutCommits(statements).length);
    }
    // The index and its rows, for each basis, and the chains behind them.
    expect(counts[1]).toBe(counts[0]);
    expect(counts[1]).toBeLessThanOrEqual(6);
  });
});
