import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contractId } from '../../../src/core/domain/chain/option-contract.ts';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { storeChain } from '../../../src/intake/ingest/chains/chain.ts';
import { ingestFiles } from '../../../src/intake/ingest/ingest.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { capturedAt, market, pricedChain } from '../../core/analytics/priced-chain.ts';
import { type Json, type TestApp, testApp } from '../../support/app.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const nowMs = exchangeInstant('2025-06-05', 12 * 60);
const folder = temporaryFolder();
const chain = pricedChain('SPY', ['2025-06-20'], [590, 600, 610]);
const [call, put, , otherPut] = chain.rows.map(contractId) as [string, string, string, string];

/** Contract, minutes before the capture, cents, contracts. The quote is 1.00 × 1.10. */
const prints: readonly [string, number, number, number][] = [
  [call, 60, 110, 30],
  [call, 30, 100, 10],
  [call, 20, 105, 500],
  [put, 15, 100, 40],
  [otherPut, 10, 110, 25],
  // After the capture.
  [call, -5, 110, 7000],
];
let app: TestApp;

beforeAll(async () => {
  app = await testApp({ nowMs });
  await inTransaction(app.store, async (tx) => {
    for (const [underlying, root] of [
      ['SPY', 'SPY'],
      ['AAPL', 'AAPL'],
    ] as const) {
      const rows = chain.rows.map((row) => ({ ...row, root }));
      await storeChain(tx, { ...chain, underlying, rows }, { rate: market.rate, gammaSource: 'solve' });
    }
  });
  const ordered = prints.toSorted((a, b) => (a[0] === b[0] ? b[1] - a[1] : a[0] < b[0] ? -1 : 1));
  const stamp = (minutes: number, ms = 0) => `${capturedAt - minutes * 60_000 + ms}000000`;
  const [trades, quotes] = [join(folder(), 'trades.csv'), join(folder(), 'quotes.csv')];
  writeFileSync(
    trades,
    [
      'ticker,conditions,correction,exchange,price,sip_timestamp,size',
      ...ordered.map(([id, minutes, cents, size]) => `${id},227,0,302,${cents / 100},${stamp(minutes)},${size}`),
    ].join('\n'),
  );
  writeFileSync(
    quotes,
    [
      'ticker,ask_exchange,ask_price,ask_size,bid_exchange,bid_price,bid_size,sequence_number,sip_timestamp',
      ...ordered.map(([id, minutes], i) => `${id},302,1.1,1,302,1,1,${i + 1},${stamp(minutes, -100)}`),
    ].join('\n'),
  );
  const report = await ingestFiles(app.store, 'option-trades', [trades], { now: () => nowMs, quoteFiles: [quotes] });
  expect(report.files[0]!.status).toBe('stored');
});
afterAll(() => app.close());

const figures = (query: string, symbol = 'SPY', sending = {}) => app.get(`/v2/gex/${symbol}/figures?${query}`, sending);

describe('figures signed by flow', () => {
  test('count what was bought less what was sold up to the capture, and say what was observed', async () => {
    const { status, body } = await figures('preset=flow&unit=shares');
    expect(status).toBe(200);
    const { data: graph } = await app.graphql(
      '{ symbol(symbol: "SPY") { chain { rows { contract { id } solved { gamma } } } } }',
    );
    const gammas = new Map<string, number>(
      graph.symbol.chain.rows.map(({ contract, solved }: Json) => [contract.id, solved.gamma]),
    );
    // The print between bid and ask has no side.
    const dealers = -(30 - 10) * gammas.get(call)! - (0 - 40) * gammas.get(put)! - 25 * gammas.get(otherPut)!;
    expect(body.data.net).toBeCloseTo(100 * dealers, 9);
    expect(body.data).toMatchObject({ convention: { sign: 'by_flow', weight: 'volume' }, coverage: 1 });
    const [at590, at600] = body.data.strikes;
    expect(at590.value).toBeCloseTo(100 * (-20 * gammas.get(call)! + 40 * gammas.get(put)!), 9);
    expect(at600.value).toBeCloseTo(-2500 * gammas.get(otherPut)!, 9);
    expect(body.meta.flow_coverage).toMatchObject({ session_date: '2025-06-04' });
  });

  test('are null without signed volume, and the answer says so', async () => {
    const { status, body } = await figures('preset=flow', 'AAPL');
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ net: null, flip: null, strikes: [], captured_at: capturedAt });
    expect(body.meta.note).toContain('AAPL');
  });

  test('with another weight are 400', async () => {
    for (const query of ['sign=by_flow', 'sign=by_flow&weight=open_interest', 'preset=flow&weight=open_interest']) {
      const { status, body } = await figures(query);
      expect([status, body.error.code], query).toEqual([400, 'invalid_params']);
      expect(body.error.message).toContain('weight');
    }
  });

  test('require access to option flow; other figures do not', async () => {
    const credential = await app.session({ siteTier: 'basic', classification: null });
    expect((await figures('', 'SPY', { credential })).status).toBe(200);
    const { status, body } = await figures('preset=flow', 'SPY', { credential });
    expect([status, body.error.code]).toEqual([403, 'not_entitled_tier']);
  });
});
