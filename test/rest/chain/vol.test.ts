import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { type Json, type TestApp, testApp, testSymbols } from '../../support/app.ts';
import { saveSolves } from '../../support/greeks.ts';
import { chainCapture, chainRow, newYork, saveCaptures } from '../../support/option-market.ts';
import { statementsOf, withoutCommits } from '../../support/statements.ts';
import { storeForThisTest } from '../../support/store.ts';

// Friday 2026-11-20, 12:00 in New York.
const nowMs = Date.parse('2026-11-20T17:00Z');
const [today, december] = ['2026-11-20', '2026-12-18'];
const many = Array.from({ length: 210 }, (_, i) => `S${String(i).padStart(3, '0')}`);
let app: TestApp;

const rows = (root: string) => [
  chainRow({
    root,
    expiry: today,
    right: 'call',
    strike: 600_000,
    iv: 0.1286,
    bid: 1.5,
    ask: 1.75,
    delta: 0.5,
    gamma: 0.04,
  }),
  chainRow({ root, expiry: today, right: 'put', strike: 600_000, iv: 0.1306, bid: 0.5, ask: 0.25, last: 0.4 }),
  chainRow({ root, expiry: today, right: 'put', strike: 610_000, bid: 9, ask: 10 }),
  chainRow({ root, expiry: december, right: 'put', strike: 540_450, iv: 0.25 }),
];

beforeAll(async () => {
  const more = many.map((symbol, i) => ({ ...testSymbols[0]!, symbol, sector: i < 200 ? 'of 200' : 'of 10' }));
  app = await testApp({ nowMs, symbols: [...testSymbols, ...more] });
  await saveCaptures(app.store, {
    chains: [
      chainCapture('SPY', newYork(today, '11:50'), []),
      chainCapture('SPY', newYork(today, '11:55'), rows('SPY')),
      chainCapture('SPY', newYork(today, '12:05'), []),
      chainCapture('SPX', newYork(today, '11:55'), rows('SPXW')),
      chainCapture('AAPL', newYork(today, '11:55'), rows('AAPL'), { spot: null, priorCloseSpot: null }),
      chainCapture('MSFT', newYork(today, '11:55'), rows('MSFT').slice(2, 3)),
      chainCapture('XOM', newYork(today, '16:01'), rows('XOM').slice(0, 2)),
      ...many.map((symbol) => chainCapture(symbol, newYork(today, '11:55'), rows(symbol))),
    ],
  });
});
afterAll(() => app.close());

const vol = (what: 'term' | 'surface', symbol = 'SPY', sending = {}) =>
  app.get(`/v2/options/${symbol}/vol/${what}`, sending);

const term = {
  symbol: 'SPY',
  as_of_ms: newYork(today, '11:55'),
  spot: 600.5,
  expiries: [
    // Above the forward no strike has a volatility.
    { expiry: today, dte: 0, n_contracts: 2, atm_strike: 600_000, atm_iv: null },
    { expiry: december, dte: 28, n_contracts: 1, atm_strike: 540_450, atm_iv: null },
  ],
};
const unknown = { mark: null, mark_source: null, delta: null, gamma: null };
const points = [
  {
    expiry: today,
    strike: 600_000,
    right: 'call',
    iv: 0.1286,
    mark: 1.625,
    mark_source: 'mid',
    moneyness: 600 / 600.5,
    delta: 0.5,
    gamma: 0.04,
  },
  // Its quote is crossed, and nobody knows when it last traded.
  { expiry: today, strike: 600_000, right: 'put', iv: 0.1306, moneyness: 600 / 600.5, ...unknown },
  { expiry: december, strike: 540_450, right: 'put', iv: 0.25, moneyness: 0.9, ...unknown },
];
const unchecked = { spot_stale: null, inconsistent_expiries: null };
const meta = {
  caps: { applied: [], tier: 'pro' },
  plane: 'live',
  read_at_ms: nowMs,
  greeks_source: null,
  ...unchecked,
};

describe('GET /v2/options/{symbol}/vol/term', () => {
  test('serves the latest chain’s volatility at the money by expiry, key for key', async () => {
    const { status, body, headers } = await vol('term');
    expect(status).toBe(200);
    expect(body).toStrictEqual({ data: term, meta });
    expect(headers['cache-control']).toBe('no-store');
  });
});

describe('GET /v2/options/{symbol}/vol/surface', () => {
  test('serves the same and the contracts with a volatility, key for key', async () => {
    const { status, body } = await vol('surface', 'spy');
    expect(status).toBe(200);
    expect(body).toStrictEqual({ data: { ...term, points }, meta });
  });

  test('without a price of the underlying nothing is at the money', async () => {
    const { body } = await vol('surface', 'AAPL');
    expect(body.data).toMatchObject({ spot: null, expiries: [{ n_contracts: 2, atm_strike: null, atm_iv: null }, {}] });
    expect(body.data.points.map(({ iv, moneyness }: Json) => [iv, moneyness])).toEqual([
      [0.1286, null],
      [0.1306, null],
      [0.25, null],
    ]);
  });
});

test('the volatility at the money is between those of the strikes on both sides of the forward', async () => {
  const row = (right: 'call' | 'put', strike: number, iv: number) =>
    chainRow({ root: 'KO', expiry: today, right, strike, iv });
  const listed = [row('call', 600_000, 0.9), row('put', 600_000, 0.2), row('call', 602_000, 0.1)];
  await saveCaptures(app.store, {
    chains: [chainCapture('KO', newYork(today, '11:55'), listed)],
  });
  const [{ atm_strike: strike, atm_iv: atmIv }] = (await vol('term', 'KO')).body.data.expiries;
  expect(strike).toBe(600_000);
  // The forward of the day is the spot, 600.50.
  const share = Math.log(600.5 / 600) / Math.log(602 / 600);
  expect(atmIv).toBeCloseTo(Math.sqrt(0.2 ** 2 + share * (0.1 ** 2 - 0.2 ** 2)), 3);
});

describe('once contracts are solved every minute', () => {
  const solved = (tsMs: number, iv: number | null, mark: number, markSource: 'mid' | 'last') => ({
    tsMs,
    iv,
    delta: iv && 0.51,
    gamma: iv && 0.05,
    mark,
    markSource,
    bid: markSource === 'mid' ? mark - 0.05 : null,
    ask: markSource === 'mid' ? mark + 0.05 : null,
  });
  const call = 'O:XSP261120C00600000';

  test('both come from the solves of the last minute that is newer than the chain; what it does not tell stays as captured', async () => {
    const captured = newYork(today, '11:55');
    const [minute, early] = [newYork(today, '11:57'), newYork(today, '11:54')];
    await saveCaptures(app.store, { chains: [chainCapture('XSP', captured, rows('XSP'))] });
    const before = (await vol('surface', 'XSP')).body.data;
    await inTransaction(app.store, (tx) => saveSolves(tx, 'XSP', { [call]: [solved(early, 0.5, 9, 'mid')] }, 601));
    expect((await vol('surface', 'XSP')).body.data).toEqual(before);
    const solves = {
      [call]: [solved(early, 0.5, 9, 'mid'), solved(minute, 0.14, 1.75, 'last')],
      // Not solvable: what the chain said stands. Not in the chain: it is there now.
      'O:XSP261120P00600000': [solved(minute, null, 1.2, 'mid')],
      'O:XSP261120P00590000': [solved(minute, 0.16, 0.4, 'mid')],
    };
    await inTransaction(app.store, (tx) => saveSolves(tx, 'XSP', solves, 602));
    const { data } = (await vol('surface', 'XSP')).body;
    expect(data).toMatchObject({ as_of_ms: minute, spot: 602 });
    expect(data.expiries[0]).toMatchObject({ expiry: today, n_contracts: 3, atm_strike: 600_000, atm_iv: null });
    expect(data.points.slice(0, 3)).toEqual([
      {
        expiry: today,
        strike: 590_000,
        right: 'put',
        iv: 0.16,
        mark: 0.4,
        mark_source: 'mid',
        moneyness: 590 / 602,
        delta: 0.51,
        gamma: 0.05,
      },
      {
        expiry: today,
        strike: 600_000,
        right: 'call',
        iv: 0.14,
        mark: 1.75,
        mark_source: 'last',
        moneyness: 600 / 602,
        delta: 0.51,
        gamma: 0.05,
      },
      { expiry: today, strike: 600_000, right: 'put', iv: 0.1306, moneyness: 600 / 602, ...unknown },
    ]);
    expect((await vol('term', 'XSP')).body.data).toEqual({ ...data, points: undefined });
    // A newer chain is all there is to it.
    await saveCaptures(app.store, { chains: [chainCapture('XSP', newYork(today, '11:58'), rows('XSP'))] });
    expect((await vol('surface', 'XSP')).body.data.points).toHaveLength(before.points.length);
  });

  test('a session of solves without a chain has a surface of what was solved', async () => {
    const minute = newYork(today, '11:57');
    const solves = { 'O:BRKB261218C00450000': [solved(minute, 0.2, 9, 'mid')] };
    await inTransaction(app.store, (tx) => saveSolves(tx, 'BRK.B', solves, 445));
    const { data } = (await vol('surface', 'BRK.B')).body;
    expect(data).toMatchObject({ as_of_ms: minute, spot: 445, expiries: [{ n_contracts: 1, atm_strike: 450_000 }] });
    expect(data.points).toMatchObject([{ strike: 450_000, iv: 0.2, mark: 9 }]);
  });
});

describe.each(['term', 'surface'] as const)('GET /v2/options/{symbol}/vol/%s', (what) => {
  const empty = what === 'surface' ? { expiries: [], points: [] } : { expiries: [] };

  test('what is not covered is nulls, empty lists and a note', async () => {
    for (const symbol of ['NVDA', 'ZZZ', 'NOPE']) {
      const { status, body } = await vol(what, symbol);
      expect(status).toBe(200);
      expect(body).toStrictEqual({
        data: { symbol, as_of_ms: null, spot: null, ...empty },
        meta: { ...meta, note: expect.stringContaining(symbol) },
      });
    }
  });

  test('a chain captured when all of it had settled is there, with a note; one without volatilities has expiries', async () => {
    app.clock.nowMs = newYork(today, '16:05');
    const settled = await vol(what, 'XOM');
    expect(settled.body.data).toEqual({ symbol: 'XOM', as_of_ms: newYork(today, '16:01'), spot: 600.5, ...empty });
    expect(settled.body.meta.note).toMatch(/open expiry/);
    app.clock.nowMs = nowMs;
    const { body } = await vol(what, 'MSFT');
    expect(body.data.expiries).toEqual([{ expiry: today, dte: 0, n_contracts: 0, atm_strike: null, atm_iv: null }]);
    expect('note' in body.meta).toBe(what === 'surface');
  });

  test('400 for a malformed symbol, 401 without a credential, 403 by the rule of every symbol', async () => {
    const wrong = await vol(what, '1X');
    expect([wrong.status, wrong.body.error.code]).toEqual([400, 'invalid_params']);
    expect(wrong.body.error.message).toMatch(/^symbol: /);
    expect((await vol(what, 'SPY', { credential: null })).status).toBe(401);
    const low = await vol(what, 'SPX', { credential: await app.key({ apiTier: 'basic' }) });
    expect([low.status, low.body.error.code]).toEqual([403, 'not_entitled_tier']);
    const undeclared = await vol(what, 'SPX', { credential: await app.key({ classification: 'professional' }) });
    expect([undeclared.status, undeclared.body.error.code]).toEqual([403, 'attestation_required']);
    expect((await vol(what, 'SPX')).body.data.expiries).toHaveLength(2);
  });

  test('counts once under analytics.vol, by either door', async () => {
    for (const work of [
      (credential: string) => vol(what, 'SPY', { credential }),
      (credential: string) =>
        app.graphql(`{ symbol(symbol: "SPY") { volatility { ${what} { spot } } } }`, {}, { credential }),
    ]) {
      const accountId = await app.account();
      const { key } = await app.access.keys.create({ accountId, name: null, expiresAt: null });
      await work(key);
      expect(await app.access.usage.read(accountId)).toMatchObject([{ scopeGroup: 'analytics.vol', count: 1 }]);
    }
  });

  test('502 when the store fails, 503 without a chain source', async () => {
    const broken = await testApp({ nowMs, store: await storeForThisTest() });
    try {
      await broken.get('/v2/symbols');
      await broken.store.pool.query('alter table chain_captures rename to chain_captures_away');
      const failed = await broken.get(`/v2/options/SPY/vol/${what}`);
      expect([failed.status, failed.body.error.code]).toEqual([502, 'internal']);
    } finally {
      await broken.close();
    }
    const bare = await testApp({ store: await storeForThisTest(), env: { SOURCES: 'bars' } });
    try {
      const { status, body } = await bare.get(`/v2/options/SPY/vol/${what}`);
      expect([status, body.error.code]).toEqual([503, 'internal']);
    } finally {
      await bare.close();
    }
  });
});

describe('Symbol.volatility', () => {
  test('gives the same and the contracts behind the points; an error at its path where it may not be read', async () => {
    const credential = await app.key({ apiTier: 'free' });
    const { data, errors } = await app.graphql(
      `{ spy: symbol(symbol: "SPY") { volatility {
           term { as_of_ms: asOfMs expiries { atmIv } meta { note plane } }
           surface { points { contract { id openInterest } iv } } } }
         spx: symbol(symbol: "SPX") { name volatility { surface { spot } } } }`,
      {},
      { credential },
    );
    expect(data.spy.volatility).toEqual({
      term: {
        as_of_ms: term.as_of_ms,
        expiries: [{ atmIv: null }, { atmIv: null }],
        meta: { note: null, plane: 'live' },
      },
      surface: {
        points: [
          { contract: { id: 'O:SPY261120C00600000', openInterest: null }, iv: 0.1286 },
          { contract: { id: 'O:SPY261120P00600000', openInterest: null }, iv: 0.1306 },
          { contract: { id: 'O:SPY261218P00540450', openInterest: null }, iv: 0.25 },
        ],
      },
    });
    expect(data.spx).toEqual({ name: 'SPX Inc.', volatility: { surface: null } });
    expect(errors).toMatchObject([
      { path: ['spx', 'volatility', 'surface'], extensions: { code: 'not_entitled_tier' } },
    ]);
  });

  test('both edges of 10 and of 200 symbols are read with the same four SQL statements', async () => {
    // The curve of their session, held from here on.
    await app.graphql('{ symbol(symbol: "SPY") { volatility { term { spot } } } }');
    for (const size of [10, 200]) {
      const statements = await statementsOf(async () => {
        const { data, errors } = await app.graphql(
          `query Q($sector: String!) { symbols(first: 200, sector: $sector) { nodes { volatility {
             term { expiries { atmStrike } } surface { expiries { atmStrike } } } } } }`,
          { sector: `of ${size}` },
        );
        expect(errors).toBeUndefined();
        expect(data.symbols.nodes).toHaveLength(size);
        for (const { volatility } of data.symbols.nodes) expect(volatility.term.expiries[0].atmStrike).toBe(600_000);
      });
      expect(withoutCommits(statements)).toHaveLength(4);
    }
  });
});
