import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ChainRow } from '../../src/domain/chain/chain.ts';
import { exchangeInstant } from '../../src/domain/market-time.ts';
import { storeChain } from '../../src/ingest/chains/chain.ts';
import { inTransaction } from '../../src/store/engine/transaction.ts';
import { pricedChain } from '../analytics/priced-chain.ts';
import { type Json, type TestApp, testApp } from '../support/app.ts';

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
