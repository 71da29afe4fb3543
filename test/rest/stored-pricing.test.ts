// Figures of stored captures are of the terms, rates and dividends that were stored with them.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sessionsUpTo } from '../../src/core/domain/calendar.ts';
import type { Dataset } from '../../src/core/domain/dataset.ts';
import { storeChain } from '../../src/intake/ingest/chains/chain.ts';
import { ingestFiles } from '../../src/intake/ingest/ingest.ts';
import { reproduce } from '../../src/intake/ingest/recompute/reproduce.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { asGeneration } from '../../src/store/superseded/generation.ts';
import { capturedAt, market, pricedChain } from '../core/analytics/priced-chain.ts';
import { type Json, type TestApp, testApp } from '../support/app.ts';
import { newYork } from '../support/option-market.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const expiries = ['2025-06-04', '2025-06-20', '2025-09-19'];
const strikes = Array.from({ length: 17 }, (_, i) => 560 + 5 * i);
const folder = temporaryFolder();
const earlier = capturedAt - 5 * 60_000;
let app: TestApp;

const paths = [
  ...['AAPL', 'SPX'].flatMap((symbol) =>
    [
      ...[
        'grid?by_expiry=1',
        'reference',
        'exposures',
        'history?date=2025-06-04',
        `change?from=${earlier}&to=${capturedAt}`,
      ],
      ...['figures', 'figures?flip=repriced', 'figures?weight=volume', 'figures?expiries=zero_dte'],
    ].map((path) => `gex/${symbol}/${path}`),
  ),
  ...['AAPL', 'SPX'].flatMap((symbol) => [
    ...[`chain/${symbol}`, `chain/${symbol}/expirations`, `levels/${symbol}`],
    ...['term', 'surface', 'figures'].map((path) => `options/${symbol}/vol/${path}`),
  ]),
  'screener/screen?where={"symbol":{"in":["AAPL","SPX"]}}',
];

/** The sector, and ranks among days of before, which may be loaded. */
const notOfCaptures = new Set(['sector', 'rank', 'iv_rank', 'iv_percentile']);

/** Every figure of the captures, by the path of its answer. */
async function figures(known: number | null = null): Promise<Record<string, Json>> {
  const found: Record<string, Json> = {};
  for (const path of paths) {
    const query =
      known === null || path.startsWith('screener') ? '' : `${path.includes('?') ? '&' : '?'}known=${known}`;
    const { status, body } = await app.get(`/v2/${path}${query}`);
    expect(status, path).toBe(200);
    const { read_at_ms: _r, known_at: _k, cached: _c, restricted: _o, ...meta } = body.meta;
    const plain = JSON.stringify(body.data, (key, value) => (notOfCaptures.has(key) ? undefined : value));
    found[path] = { data: JSON.parse(plain), meta };
  }
  return found;
}

beforeAll(async () => {
  app = await testApp({ nowMs: newYork('2025-06-04', '12:00') });
  const now = () => app.clock.nowMs++;
  for (const atMs of [earlier, capturedAt])
    await inTransaction(app.store, (tx) =>
      asGeneration(tx, now, async () => {
        for (const [underlying, root] of [
          ['SPX', 'SPXW'],
          ['AAPL', 'AAPL'],
        ] as const) {
          const chain = pricedChain(root, expiries, strikes);
          const spot = market.spot + (atMs === earlier ? 0.02 : 0);
          const rows = chain.rows.map((row, i) => ({ ...row, volume: i }));
          await storeChain(
            tx,
            { ...chain, underlying, rows, spot, capturedAt: atMs },
            { rate: market.rate, gammaSource: 'solve' },
          );
        }
      }),
    );
});
afterAll(() => app.close());

/** The rows of the lists themselves, as known at an instant. */
async function facts(known: number): Promise<Json> {
  const { data, errors } = await app.graphql(`{ asOf(known: "${known}") {
    symbol(symbol: "AAPL") { name sector splits { ratio } dividends { amount } volatility { figures { rank { days } } } }
    contract(id: "O:AAPL250620C00600000") { style settlement multiplier }
    rates(date: "2025-06-04") { days rate }
  } }`);
  expect(errors).toBeUndefined();
  return data.asOf;
}

/** Lists that say otherwise than when the chains were stored. */
const lists: Partial<Record<Dataset, string[]>> = {
  rates: ['date,days,rate', '2025-06-03,30,0.09', '2025-06-03,365,0.11'],
  dividends: [
    'symbol,ex_date,amount,kind,declared',
    'AAPL,2025-06-10,7,regular,2025-06-02',
    'SPX,2025-06-10,7,regular,2025-06-02',
  ],
  roots: [
    'root,underlying,style,settlement,multiplier,deliverable,from,to',
    'SPXW,SPX,american,am,10,standard,,',
    'AAPL,AAPL,european,am,10,standard,,',
  ],
  symbols: ['symbol,name,class,sector', 'AAPL,Another name,equity,Energy'],
  'volatility-days': [
    'symbol,date,iv30',
    ...sessionsUpTo('2025-06-03', 70).map((date, i) => `AAPL,${date},${0.4 + i / 1000}`),
  ],
  splits: ['symbol,ex_date,ratio,declared', 'AAPL,2025-06-16,4,2025-06-02'],
};

test.each(Object.keys(lists) as Dataset[])('%s that come later move no figure of a stored capture', async (dataset) => {
  const before = await figures();
  app.clock.nowMs += 60_000;
  const said = await facts(app.clock.nowMs);
  const knownMs = app.clock.nowMs;
  const path = join(folder(), `${dataset}.csv`);
  writeFileSync(path, `${lists[dataset]!.join('\n')}\n`);
  app.clock.nowMs += 60_000;
  const now = () => app.clock.nowMs++;
  const { files } = await ingestFiles(app.store, dataset, [path], { now });
  expect(files[0], JSON.stringify(files)).toMatchObject({ status: 'stored' });
  app.clock.nowMs += 60_000;
  const [today, then] = [await facts(app.clock.nowMs), await facts(knownMs)];
  expect(today).not.toEqual(then);
  expect(then).toEqual(said);
  const [after, asKnown] = [await figures(), await figures(knownMs)];
  for (const path of paths) {
    if (!path.startsWith('screener')) expect(asKnown[path], path).toEqual(before[path]);
    expect(after[path], path).toEqual(before[path]);
  }
  for (const underlying of ['SPX', 'AAPL'])
    expect(await reproduce(app.store, { underlying, capturedAt }, market.rate)).toMatchObject({
      status: 'equal',
    });
});
