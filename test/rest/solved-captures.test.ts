import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { yearsUntil } from '../../src/core/analytics/pricing/chain-groups.ts';
import type { ChainRow } from '../../src/core/domain/chain/chain.ts';
import { lastInstant } from '../../src/core/domain/chain/option-root.ts';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { storeChain } from '../../src/intake/ingest/chains/chain.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { capturedAt, market, pricedChain } from '../core/analytics/priced-chain.ts';
import { type Json, type TestApp, testApp, testSymbols } from '../support/app.ts';

const strikes = Array.from({ length: 17 }, (_, i) => 580 + 2.5 * i);
const [today, june] = ['2025-06-04', '2025-06-20'];
let app: TestApp;

/** A chain whose source says of every contract a volatility of 30 %, far from its quotes. */
const chain = pricedChain('SPY', [today, june], strikes);
const rows = chain.rows.map((row): ChainRow => ({ ...row, iv: 0.3, delta: 0.4, gamma: 0.01 }));

beforeAll(async () => {
  app = await testApp({ nowMs: exchangeInstant(today, 12 * 60) });
  await inTransaction(app.store, async (tx) => {
    const settings = { rate: 0.045 };
    await storeChain(tx, { ...chain, rows, spot: 603 }, { ...settings, gammaSource: 'solve' });
    const index = chain.rows.map((row) => ({ ...row, root: 'SPXW' }));
    const cheap = index.map((row) => (row === index.at(-1) ? { ...row, bid: 18.9, ask: 19 } : row));
    await storeChain(tx, { ...chain, underlying: 'SPX', rows: cheap }, { ...settings, gammaSource: 'solve' });
    const vendor = rows.map((row) => ({ ...row, root: 'AAPL' }));
    await storeChain(tx, { ...chain, underlying: 'AAPL', rows: vendor }, { ...settings, gammaSource: 'vendor' });
  });
});
afterAll(() => app.close());

async function volatilities(symbol: string): Promise<Json> {
  const { data, errors } = await app.graphql(`{ symbol(symbol: "${symbol}") {
    gex { latest { spotStale impliedSpot inconsistentExpiries expiries { expiry atmIv moveRatio } profile { price gex } } }
    chain(expiry: "2025-06-20") { rows { iv solved { iv gamma origin } } meta { greeksSource } } } }`);
  expect(errors).toBeUndefined();
  return data.symbol;
}

test.each([
  ['SPY', 'solved'],
  ['AAPL', 'vendor'],
])('%s: volatilities at the money are one figure wherever they are shown, and %s by name', async (symbol, source) => {
  const { gex } = await volatilities(symbol);
  const expected = gex.latest.expiries.map(({ expiry, atmIv }: Json) => [expiry, atmIv]);
  for (const what of ['term', 'surface']) {
    const { body } = await app.get(`/v2/options/${symbol}/vol/${what}`);
    expect(body.data.expiries.map(({ expiry, atm_iv: atmIv }: Json) => [expiry, atmIv])).toEqual(expected);
    expect(body.meta.greeks_source).toBe(source);
  }
  if (source === 'vendor') expect(new Set(expected.map(([, iv]: Json) => iv))).toEqual(new Set([0.3]));
});

test('a contract’s greeks are those its exposures are made of, where its mid lies between what the forward leaves it', async () => {
  const latest = async (id: string) => (await app.get(`/v2/options/O:${id}/greeks`)).body.data.latest;
  const { data } = await app.graphql(`{ symbol(symbol: "SPY") { chain(expiry: "${today}") { rows {
    contract { id } bid ask solved { iv delta gamma } } } } }`);
  const deep = data.symbol.chain.rows.find(({ contract }: Json) => contract.id.endsWith('C00597500'));
  // Less than its exercise at the source's price, more than that at the price its quotes imply.
  expect((deep.bid + deep.ask) / 2).toBeLessThan(603 - 597.5);
  expect(await latest('SPY250604C00597500')).toMatchObject(deep.solved);
  // The last put of the index is worth less than its strike under the forward; the one before is not.
  expect(await latest('SPXW250620P00620000')).toMatchObject({ iv: null, delta: null, gamma: null, mark: 18.95 });
  expect((await latest('SPXW250620P00617500')).iv).toBeGreaterThan(0.1);
});

test('a chain whose source gives no greeks names the solve, though some of its contracts have no volatility', async () => {
  const standard = chain.rows.map((row) => ({ ...row, root: 'MSFT' }));
  // Nothing is solved of an adjusted contract.
  const adjusted = { ...standard.at(-1)!, root: 'MSFT1' };
  await inTransaction(app.store, (tx) =>
    storeChain(
      tx,
      { ...chain, underlying: 'MSFT', rows: [...standard, adjusted] },
      { rate: 0.045, gammaSource: 'solve' },
    ),
  );
  const { chain: served } = await volatilities('MSFT');
  const isSolved = served.rows.map(({ solved }: Json) => solved?.iv != null);
  expect(isSolved).toEqual([...Array(served.rows.length - 1).fill(true), false]);
  expect(served.meta.greeksSource).toBe('solved');
});

test('rows show the source’s greeks and what was solved beside them; a stale spot is told with what is priced instead', async () => {
  const { gex, chain: served } = await volatilities('SPY');
  expect(gex.latest).toMatchObject({ spotStale: true, inconsistentExpiries: 0 });
  expect(Math.abs(gex.latest.impliedSpot - 600)).toBeLessThan(0.03);
  expect(gex.latest.profile).toHaveLength(60);
  expect(served.meta.greeksSource).toBe('vendor');
  for (const { iv, solved } of served.rows) {
    expect(iv).toBe(0.3);
    expect(solved.iv).toBeLessThan(0.25);
  }
  const { body } = await app.get('/v2/gex/SPY/reference');
  expect(body.data).toMatchObject({ spot: 603, spot_stale: true, implied_spot: gex.latest.impliedSpot });
  expect((await app.get('/v2/chain/SPY')).body.meta.greeks_source).toBe('vendor');
});

test('the chain and its volatilities say in meta which prices contradict each other, as the capture does', async () => {
  const checks = async (path: string) => {
    const { inconsistent_expiries, spot_stale } = (await app.get(path)).body.meta;
    return [inconsistent_expiries, spot_stale];
  };
  for (const path of ['/v2/gex/SPY/grid', '/v2/chain/SPY', '/v2/options/SPY/vol/term', '/v2/options/SPY/vol/surface'])
    expect([path, await checks(path)]).toEqual([path, [[], true]]);
  const { data } = await app.graphql(
    '{ symbol(symbol: "AAPL") { gex { latest { expiries { expiry inconsistent moveRatio } } } } }',
  );
  const failing = data.symbol.gex.latest.expiries.filter(({ inconsistent }: Json) => inconsistent);
  expect(failing.map(({ expiry }: Json) => expiry)).toEqual([today, june]);
  expect(await checks('/v2/chain/AAPL')).toEqual([[today, june], false]);
  expect(await checks(`/v2/chain/AAPL?expiry=${june}`)).toEqual([[june], false]);
  expect(await checks('/v2/options/AAPL/vol/term')).toEqual([[today, june], false]);
  expect(await checks('/v2/chain/NVDA')).toEqual([null, null]);
});

/** Theta a day and vega a point of an index option at a volatility, by the closed form. */
function closedForm(right: string, strike: number, years: number, volatility: number) {
  const { spot, rate, dividendYield } = market;
  const deviation = volatility * Math.sqrt(years);
  const d1 = (Math.log(spot / strike) + (rate - dividendYield + volatility ** 2 / 2) * years) / deviation;
  const density = (x: number) => Math.exp(-(x ** 2) / 2) / Math.sqrt(2 * Math.PI);
  // By Simpson's rule, since there is no closed form.
  const normal = (x: number) => {
    const step = x / 1000;
    const sum = Array.from({ length: 1001 }, (_, i) => density(i * step) * (i === 0 || i === 1000 ? 1 : i % 2 ? 4 : 2));
    return 0.5 + (step / 3) * sum.reduce((a, b) => a + b);
  };
  const [carried, discounted] = [spot * Math.exp(-dividendYield * years), strike * Math.exp(-rate * years)];
  const sign = right === 'call' ? 1 : -1;
  const decay = (-carried * density(d1) * volatility) / (2 * Math.sqrt(years));
  const carry = dividendYield * carried * normal(sign * d1) - rate * discounted * normal(sign * (d1 - deviation));
  return {
    theta: (decay + sign * carry) / 365,
    vega: (carried * density(d1) * Math.sqrt(years)) / 100,
    gamma: (carried * density(d1)) / (spot ** 2 * deviation),
  };
}

describe.each(['solve', 'vendor'] as const)('greeks that the source lacks, with gammas of %s', (gammaSource) => {
  const underlying = gammaSource === 'solve' ? 'XSP' : 'NDX';
  const years = yearsUntil(lastInstant(june, 'pm'), capturedAt);
  let lacking: TestApp;
  beforeAll(async () => {
    lacking = await testApp({
      nowMs: exchangeInstant(today, 12 * 60),
      symbols: [...testSymbols, { ...testSymbols.find(({ symbol }) => symbol === 'XSP')!, symbol: 'NDX' }],
    });
    const index = chain.rows.map((row) => ({ ...row, root: `${underlying}P`.replace('XSPP', 'XSP') }));
    const given = index.map((row, i): ChainRow => {
      if (i % 24 === 0) return row;
      return { ...row, iv: 0.3, delta: 0.4, gamma: i % 24 === 2 ? null : 0.01 };
    });
    await inTransaction(lacking.store, (tx) =>
      storeChain(tx, { ...chain, underlying, rows: given, spot: 600 }, { rate: market.rate, gammaSource }),
    );
  });
  afterAll(() => lacking.close());

  test('are computed at its volatility, and listed', async () => {
    const { body } = await lacking.get(`/v2/chain/${underlying}?expiry=${june}`);
    expect(body.meta).toMatchObject({ greeks_source: 'vendor', greeks_filled: ['gamma', 'theta', 'vega'] });
    const rows = body.data.rows.filter((row: Json) => row.iv === 0.3);
    expect(rows.length).toBeGreaterThan(15);
    for (const { contract, theta, vega, delta, gamma } of rows) {
      const expected = closedForm(contract.right, contract.strike / 1000, years, 0.3);
      expect(delta).toBe(0.4);
      // The forward is read off quotes of a cent.
      expect(Math.abs(theta / expected.theta - 1)).toBeLessThan(0.01);
      expect(Math.abs(vega / expected.vega - 1)).toBeLessThan(0.01);
      if (gamma !== 0.01) expect(Math.abs(gamma / expected.gamma - 1)).toBeLessThan(0.01);
    }
  });

  test('are listed as far as rows of the answer show them', async () => {
    const { body } = await lacking.get(`/v2/chain/${underlying}?strike_gte=999000`);
    expect(body.meta).not.toHaveProperty('greeks_filled');
    expect((await app.get('/v2/chain/SPX')).body.meta).not.toHaveProperty('greeks_filled');
  });

  test('solved ones stay beside them, and exposures are made of what they were made of', async () => {
    const { data } = await lacking.graphql(`{ symbol(symbol: "${underlying}") { gex { latest { gammaAbsent } }
      chain(expiry: "${june}") { rows { iv theta vega solved { iv theta vega } } meta { greeksFilled } } } }`);
    expect(data.symbol.chain.meta.greeksFilled).toEqual(['gamma', 'theta', 'vega']);
    for (const { iv, vega, solved } of data.symbol.chain.rows) {
      if (gammaSource === 'vendor') expect(solved).toBeNull();
      else if (iv === 0.3) expect(Math.abs(vega / solved.vega - 1)).toBeGreaterThan(1e-6);
      else expect(vega).toBe(solved.vega);
    }
    // A vendor's exposures have no row for a contract whose gamma the source does not give.
    if (gammaSource === 'vendor') expect(data.symbol.gex.latest.gammaAbsent).toBe(6);
    else expect(data.symbol.gex.latest.gammaAbsent).toBe(0);
  });
});
