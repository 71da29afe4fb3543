import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { blackScholes } from '../../../src/core/analytics/pricing/black-scholes.ts';
import { yearsUntil } from '../../../src/core/analytics/pricing/chain-groups.ts';
import { lastInstant } from '../../../src/core/domain/chain/option-root.ts';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { storeChain } from '../../../src/intake/ingest/chains/chain.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { capturedAt, market, pricedChain, smileAt } from '../../core/analytics/priced-chain.ts';
import { type Json, type TestApp, testApp } from '../../support/app.ts';
import { statementsOf } from '../../support/statements.ts';

const [today, june] = ['2025-06-04', '2025-06-20'];
const strikes = Array.from({ length: 17 }, (_, i) => 560 + 5 * i);
let app: TestApp;

beforeAll(async () => {
  app = await testApp({ nowMs: exchangeInstant('2025-06-05', 12 * 60) });
  await inTransaction(app.store, async (tx) => {
    const chain = pricedChain('SPXW', [today, june], strikes);
    for (const [underlying, root] of [
      ['SPX', 'SPXW'],
      ['AAPL', 'AAPL'],
    ] as const) {
      const rows = chain.rows.map((row) => ({ ...row, root }));
      await storeChain(tx, { ...chain, underlying, rows }, { rate: market.rate, gammaSource: 'solve' });
    }
  });
});
afterAll(() => app.close());

describe('GET /v2/gex/{symbol}/exposures', () => {
  test('the row of an expiry is what the formulas give on the smile that its quotes were made of', async () => {
    const { status, body } = await app.get('/v2/gex/SPX/exposures');
    expect(status).toBe(200);
    const { data, meta } = body;
    expect(data).toMatchObject({ symbol: 'SPX', session_date: today, captured_at: capturedAt, spot: 600 });
    expect(data).toMatchObject({ oi_coverage: 1, contract_count: 68 });
    expect(meta).toStrictEqual({
      caps: { applied: [], tier: 'pro' },
      plane: 'archive',
      note: `The latest capture of SPX is of ${today}. There was no earlier chain of SPX to compare that of ${today} with: it may lack contracts.`,
      inconsistent_expiries: [],
      spot_stale: false,
    });
    // Two weeks ahead a cent of a quote is little volatility.
    const expected = { delta: 0, vanna: 0, charm: 0, vega: 0 };
    const gross = { ...expected };
    const years = yearsUntil(lastInstant(june, 'pm'), capturedAt);
    for (const strike of strikes)
      for (const right of ['call', 'put'] as const) {
        const value = blackScholes({ ...market, right, strike, years, volatility: smileAt(strike) });
        const shares = (100 + (strike % 7) * 10 + (right === 'put' ? 55 : 0)) * 100;
        const sided = (right === 'call' ? 1 : -1) * shares;
        const terms = {
          delta: value.delta * shares * 600,
          vanna: value.vanna * sided * 600 * 0.01,
          charm: (value.charm * sided * 600) / 365,
          vega: value.vega * sided * 0.01,
        };
        for (const name of ['delta', 'vanna', 'charm', 'vega'] as const) {
          expected[name] += terms[name];
          gross[name] += Math.abs(terms[name]);
        }
      }
    const row = data.by_expiry.find(({ expiry }: Json) => expiry === june);
    for (const name of ['delta', 'vanna', 'charm', 'vega'] as const)
      expect(Math.abs(row[name] - expected[name]) / gross[name], name).toBeLessThan(0.002);
    expect(data.by_expiry.map(({ expiry }: Json) => expiry)).toEqual([today, june]);
  });

  test('an answer about a past date is sealed, and the graph says the same', async () => {
    const path = `/v2/gex/AAPL/exposures?at=${today}`;
    const { body, headers } = await app.get(path);
    expect(body.meta.plane).toBe('archive');
    expect((await app.get(path, { headers: { 'if-none-match': headers.etag! } })).status).toBe(304);
    const { data } = await app.graphql(`{ symbol(symbol: "AAPL") { gex { latest { netVanna netCharm } exposures {
      total { delta vanna charm vega } byStrike { strike delta } } } } }`);
    const { latest, exposures } = data.symbol.gex;
    expect(exposures.total).toEqual(body.data.total);
    expect(exposures.byStrike).toHaveLength(strikes.length);
    expect(exposures.total.vanna).toBeCloseTo(latest.netVanna, 0);
    expect(exposures.total.charm).toBeCloseTo(latest.netCharm, 0);
  });

  test('without a chain there are none, and the answer says why', async () => {
    const { status, body } = await app.get('/v2/gex/MSFT/exposures');
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      captured_at: null,
      total: null,
      by_strike: [],
      by_expiry: [],
      oi_coverage: null,
    });
    expect(body.meta.note).toContain('MSFT');
  });

  test('what is held and cached is not read again', async () => {
    const ask = (symbols: readonly string[]) =>
      app.graphql(
        `{ ${symbols.map((symbol) => `${symbol}: symbol(symbol: "${symbol}") { gex { exposures { total { delta } } } }`).join(' ')} }`,
      );
    await ask(['SPX', 'AAPL', 'MSFT']);
    expect(await statementsOf(() => ask(['SPX', 'AAPL', 'MSFT']))).toEqual([]);
  });

  test('it requires entitlement to the symbol', async () => {
    const credential = await app.session({ siteTier: 'free', classification: null });
    const { status, body } = await app.get('/v2/gex/SPX/exposures', { credential });
    expect([status, body.error.code]).toEqual([403, 'not_entitled_tier']);
  });
});
