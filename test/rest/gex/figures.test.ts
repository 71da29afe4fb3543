import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { captureConvention } from '../../../src/core/domain/gex/convention.ts';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { storeChain } from '../../../src/intake/ingest/chains/chain.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { capturedAt, chainOf, market, pricedChain, pricedRow } from '../../core/analytics/priced-chain.ts';
import { type Json, type TestApp, testApp } from '../../support/app.ts';
import { statementsOf } from '../../support/statements.ts';

const [today, june, july] = ['2025-06-04', '2025-06-20', '2025-07-18'];
const strikes = Array.from({ length: 17 }, (_, i) => 560 + 5 * i);
let app: TestApp;

beforeAll(async () => {
  app = await testApp({ nowMs: exchangeInstant('2025-06-05', 12 * 60) });
  await inTransaction(app.store, async (tx) => {
    const chain = pricedChain('SPXW', [today, june, july], strikes);
    const settings = { rate: market.rate, gammaSource: 'solve' } as const;
    for (const [underlying, root] of [
      ['SPX', 'SPXW'],
      ['AAPL', 'AAPL'],
    ] as const) {
      const rows = chain.rows.map((row, i) => ({ ...row, root, volume: i % 3 === 0 ? null : i }));
      await storeChain(tx, { ...chain, underlying, rows }, settings);
    }
    // Gammas of its source for one of two contracts of the same open interest.
    const rights = ['call', 'put'] as const;
    const quoted = rights.map((right, i) =>
      pricedRow('TSLA', june, right, 600, { openInterest: 10, gamma: i ? 0.01 : null }),
    );
    await storeChain(tx, { ...chainOf(quoted), underlying: 'TSLA' }, settings);
    // Captured on a Sunday, so of the Friday before.
    const sunday = { capturedAt: exchangeInstant('2025-06-01', 12 * 60), sessionDate: '2025-05-30' };
    await storeChain(tx, { ...pricedChain('NVDA', [june], strikes), underlying: 'NVDA', ...sunday }, settings);
  });
});
afterAll(() => app.close());

const figures = (query = '', symbol = 'SPX', sending = {}) => app.get(`/v2/gex/${symbol}/figures?${query}`, sending);
const data = async (query = '', symbol = 'SPX'): Promise<Json> => {
  const { status, body } = await figures(query, symbol);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data;
};

describe('GET /v2/gex/{symbol}/figures', () => {
  test('by default they are the figures of the GEX capture, and every choice is repeated', async () => {
    const { body } = await figures();
    const { data: graph } = await app.graphql(`{ symbol(symbol: "SPX") { gex { latest {
      netGex flipPoint flipStatus callWall putWall oiCoverage contractCount strikes { strike gex } } } } }`);
    const { latest } = graph.symbol.gex;
    expect(body.data).toMatchObject({
      symbol: 'SPX',
      session_date: today,
      captured_at: capturedAt,
      price: 600,
      net: latest.netGex,
      flip: latest.flipPoint,
      call_wall: latest.callWall,
      put_wall: latest.putWall,
      coverage: latest.oiCoverage,
      contract_count: latest.contractCount,
      expiries: [today, june, july],
    });
    expect(body.data.strikes).toEqual(latest.strikes.map(({ strike, gex }: Json) => ({ strike, value: gex })));
    const { withinDays, ...choices } = captureConvention;
    const { words, ...convention } = body.data.convention;
    expect(convention).toEqual({ ...choices, gamma: 'solved', within_days: withinDays });
    expect(body.data.unit).toBe('Dollars that dealers trade to stay hedged when the underlying moves $1.');
    expect(words).toMatch(/^Unit: Dollars .* Weight: .* Sign: .* Gamma: .* Years: .* Flip: .* Walls: .* Expiries: All/);
    expect(body.meta).toMatchObject({ plane: 'archive', flip_status: latest.flipStatus, spot_stale: false });
    expect(body.meta.note).toBe(
      `The latest capture of SPX is of ${today}. There was no earlier chain of SPX to compare that of ${today} with: it may lack contracts.`,
    );
  });

  test('units are ratios of each other by the price; flip and walls stay', async () => {
    const [dollars, percent, shares] = [await data(), await data('unit=per_percent'), await data('preset=shares')];
    expect(percent.net).toBeCloseTo(dollars.net * 6, 3);
    expect(shares.net).toBeCloseTo(dollars.net / 600, 6);
    expect(percent.strikes[0].value).toBeCloseTo(dollars.strikes[0].value * 6, 3);
    for (const name of ['flip', 'call_wall', 'put_wall', 'max_pain']) expect(percent[name], name).toBe(dollars[name]);
    expect([percent.unit, shares.unit]).toEqual([expect.stringContaining('1%'), expect.stringContaining('Shares')]);
  });

  test('open interest and volume add up to their sum', async () => {
    const [open, traded, both] = [
      await data(),
      await data('preset=traded'),
      await data('weight=open_interest_and_volume'),
    ];
    expect(both.net).toBeCloseTo(open.net + traded.net, 3);
    expect(traded.convention.weight).toBe('volume');
    expect(traded.max_pain).toBe(open.max_pain);
  });

  test('sets of expiries: 0DTE, within days, monthly, and a list partition the chain', async () => {
    const all = await data();
    const of = async (query: string) => {
      const { net, expiries, convention } = await data(query);
      return { net, expiries, set: convention.expiries };
    };
    const [zero, near, monthly, list] = [
      await of('preset=zero_dte'),
      await of('expiries=16d'),
      await of('expiries=monthly'),
      await of(`expiries=${today},${july},2030-01-18`),
    ];
    expect(zero).toMatchObject({ set: 'zero_dte', expiries: [today] });
    expect(near).toMatchObject({ set: 'within_days', expiries: [today, june] });
    expect(monthly).toMatchObject({ set: 'monthly', expiries: [june, july] });
    expect(list).toMatchObject({ set: 'list', expiries: [today, july] });
    expect(zero.net + monthly.net).toBeCloseTo(all.net, 3);
    expect(near.net - zero.net + list.net).toBeCloseTo(all.net, 3);
    expect(await of('expiries=0d')).toMatchObject({ expiries: [today], net: zero.net });
  });

  test('choices that are none, or exclude each other, are 400 and named', async () => {
    for (const [query, named] of [
      ['expiries=-1d', 'expiries'],
      [`expiries=5d,${june}`, 'expiries'],
      ['unit=percent', 'unit'],
      ['expiries=weekly', 'expiries'],
      ['top=0', 'top'],
    ] as const) {
      const { status, body } = await figures(query);
      expect([status, body.error.code], query).toEqual([400, 'invalid_params']);
      expect(body.error.message, query).toContain(named);
    }
    const ask = (convention: string) =>
      app.graphql(`{ symbol(symbol: "SPX") { gex { figures(convention: { ${convention} }) { net } } } }`);
    for (const convention of ['expiries: list', 'expiries: within_days', 'dates: []', 'expiries: all, withinDays: 3'])
      expect((await ask(convention)).errors![0].extensions.code, convention).toBe('invalid_params');
  });

  test('without figures the answer says why', async () => {
    const none = { net: null, flip: null, call_wall: null, put_wall: null, strikes: [] };
    const missing = await figures('', 'MSFT');
    expect(missing.body.data).toMatchObject({ ...none, captured_at: null, price: null, max_pain: null, expiries: [] });
    expect(missing.body.meta.note).toContain('MSFT');
    const empty = await figures('expiries=2025-06-27');
    expect(empty.body.data).toMatchObject({ ...none, coverage: null, captured_at: capturedAt });
    expect(empty.body.meta).toMatchObject({ note: expect.stringContaining('expiries'), flip_status: 'no_strikes' });
    const half = await figures('gamma=vendor', 'TSLA');
    expect(half.body.data).toMatchObject({ ...none, coverage: 0.5, max_pain: 600_000 });
    expect(half.body.meta.note).toContain('90%');
  });

  test('an answer about a past date is sealed; a date without trading means the session before', async () => {
    const path = `/v2/gex/SPX/figures?at=${today}&unit=shares`;
    const { body, headers } = await app.get(path);
    expect(body.meta.plane).toBe('archive');
    expect((await app.get(path, { headers: { 'if-none-match': headers.etag! } })).status).toBe(304);
    const sessions = ['2025-06-01', '2025-05-30'].map((at) => data(`at=${at}`, 'NVDA'));
    for (const { session_date, net } of await Promise.all(sessions)) {
      expect(session_date).toBe('2025-05-30');
      expect(net).not.toBeNull();
    }
  });

  test('below asOf a later time is cut to its instant', async () => {
    const { data: graph } = await app.graphql(`{ asOf(at: "2025-06-04T12:00") { symbol(symbol: "SPX") { gex {
      cut: figures(at: "2025-06-05") { capturedAt meta { at caps { applied } } } own: figures { capturedAt net } } } }
      before: asOf(at: "2025-06-04T10:00") { symbol(symbol: "SPX") { gex { figures(at: "2025-06-04") { net } } } } }`);
    const { cut, own } = graph.asOf.symbol.gex;
    expect(cut).toMatchObject({ capturedAt, meta: { caps: { applied: ['at_clamped'] } } });
    expect(own.net).toBe((await data()).net);
    expect(graph.before.symbol.gex.figures.net).toBeNull();
  });

  test('CSV has the strikes, and top keeps the largest', async () => {
    const { bytes } = await app.get('/v2/gex/SPX/figures?top=3', { headers: { accept: 'text/csv' } });
    const [header, ...lines] = String(bytes).trim().split('\r\n');
    expect(header).toBe('strike,value');
    const { strikes: all } = await data();
    const largest = all.toSorted((a: Json, b: Json) => Math.abs(b.value) - Math.abs(a.value)).slice(0, 3);
    const kept = largest.toSorted((a: Json, b: Json) => a.strike - b.strike);
    expect(lines).toEqual(kept.map(({ strike, value }: Json) => `${strike},${value}`));
  });

  test('what is held and cached is not read again', async () => {
    const ask = (symbols: readonly string[]) =>
      app.graphql(
        `{ ${symbols.map((symbol) => `${symbol}: symbol(symbol: "${symbol}") { gex { figures(convention: { flip: repriced }) { net flip } } }`).join(' ')} }`,
      );
    await ask(['SPX', 'AAPL', 'MSFT']);
    expect(await statementsOf(() => ask(['SPX', 'AAPL', 'MSFT']))).toEqual([]);
  });

  test('it requires entitlement to the symbol', async () => {
    const credential = await app.session({ siteTier: 'free', classification: null });
    const { status, body } = await figures('', 'SPX', { credential });
    expect([status, body.error.code]).toEqual([403, 'not_entitled_tier']);
  });
});
