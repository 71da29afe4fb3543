import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Dataset } from '../../../../src/core/domain/dataset.ts';
import { billOn, rateAt } from '../../../../src/core/domain/market/rates.ts';
import { type FileReport, ingestFiles } from '../../../../src/intake/ingest/ingest.ts';
import { dividendsOf } from '../../../../src/store/market/dividends.ts';
import { curveOn } from '../../../../src/store/market/rates.ts';
import { tapegraph } from '../../../cli/command-line.ts';
import { testApp } from '../../../support/app.ts';
import { storeForThisTest, type TestStore } from '../../../support/store.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const nowMs = Date.parse('2026-11-20T17:00Z');
const now = () => nowMs;
const folder = temporaryFolder();

async function ingest(store: TestStore, dataset: Dataset, ...lines: string[]): Promise<FileReport> {
  const path = join(folder(), `${dataset}.csv`);
  writeFileSync(path, `${lines.join('\n')}\n`);
  const { files } = await ingestFiles(store, dataset, [path], { now });
  return files[0]!;
}
const reasons = ({ badLines }: FileReport) => badLines.map(({ line, reason }) => `${line} ${reason}`);
const dividendHeader = 'symbol,ex_date,amount,ratio,kind,declared';

test('rates are linear in days, flat beyond the curve, and those of the last curve of 31 days', async () => {
  const store = await storeForThisTest();
  await ingest(
    store,
    'rates',
    ...['date,days,rate', '2026-11-16,30,0.04', '2026-11-16,90,0.05', '2026-11-18,30,0.03', '2026-11-18,130,0.05'],
  );
  const at = async (date: string, days: number) => Number(rateAt(await curveOn(store, date), days)?.toFixed(12));
  expect(await at('2026-11-16', 60)).toBe(0.045);
  expect(await at('2026-11-17', 45)).toBe(0.0425);
  expect(await at('2026-11-18', 80)).toBe(0.04);
  expect([await at('2026-11-18', 1), await at('2026-11-18', 30), await at('2026-11-18', 999)]).toEqual([
    0.03, 0.03, 0.05,
  ]);
  expect(await at('2026-12-19', 30)).toBe(0.03);
  expect(await curveOn(store, '2026-12-20')).toEqual([]);
  expect(await curveOn(store, '2026-11-15')).toEqual([]);
});

test('dividends are read by symbol, ascending, a special one beside a regular one', async () => {
  const store = await storeForThisTest();
  const lines = ['SPY,2026-12-18,1.9,,,', 'SPY,2026-09-18,1.8,,regular,2026-09-01', 'SPY,2026-12-18,3,,special,'];
  await ingest(store, 'dividends', dividendHeader, ...lines, 'AAPL,2026-11-09,,0.01,,');
  const found = await dividendsOf(store, ['SPY', 'AAPL', 'MSFT']);
  expect(found.get('SPY')!.map(({ exDate, amount, kind }) => [exDate, amount, kind])).toEqual([
    ['2026-09-18', 1.8, 'regular'],
    ['2026-12-18', 1.9, 'regular'],
    ['2026-12-18', 3, 'special'],
  ]);
  expect(found.get('AAPL')).toMatchObject([{ amount: null, ratio: 0.01 }]);
  expect(found.has('MSFT')).toBe(false);
});

test('bad lines are named', async () => {
  const store = await storeForThisTest();
  const rates = await ingest(
    store,
    'rates',
    ...['date,days,rate', '2026-02-30,30,0.04', '2026-11-16,0,0.04', '2026-11-16,30,4.5', '2026-11-16,1,0.04'],
    '2026-11-16,1,0.05',
  );
  expect(reasons(rates)).toEqual([
    '2 date: expected a date YYYY-MM-DD, got "2026-02-30"',
    '3 days: expected a whole number of days from 1 to 36525, got "0"',
    '4 rate: expected a fraction a year from -0.5 to 1, such as 0.045, got "4.5"',
    '6 2026-11-16 1 days: line 5 says something else',
  ]);
  const dividends = await ingest(
    store,
    'dividends',
    ...[
      dividendHeader,
      'SPY,2026-12-19,1.9,,,',
      'SPY,2026-12-18,,,,',
      'SPY,2026-12-18,1,0.1,,',
      'SPY,2026-12-18,-1,,,',
    ],
    ...['SPY,2026-12-18,,1.5,,', 'SPY,2026-12-18,1,,odd,', 'SPY,2026-12-18,1,,,2026-12-21'],
  );
  expect(reasons(dividends)).toEqual([
    '2 ex_date: expected a trading day, got "2026-12-19"',
    '3 expected either amount or ratio',
    '4 expected either amount or ratio',
    '5 amount: expected dollars a share, above 0, got "-1"',
    '6 ratio: expected a fraction of the price, above 0 and below 1, got "1.5"',
    '7 kind: expected regular or special, got "odd"',
    '8 declared: 2026-12-21 is after ex_date, 2026-12-18',
  ]);
});

test('the graph serves what is known, follows new rows, and exports can be ingested', async () => {
  const app = await testApp({ nowMs });
  const query =
    '{ rates { date days rate } rate(days: 7) symbol(symbol: "SPY") { dividends(from: "2026-10-01") { exDate amount } } }';
  const served = async () => (await app.graphql(query)).data;
  // Without a curve US bills stand in; the date is the first day of their force.
  const bill = billOn('2026-11-20')!;
  expect(bill.date).toBe('2026-07-01');
  expect(await served()).toEqual({ rates: [bill], rate: bill.rate, symbol: { dividends: [] } });
  await ingest(app.store, 'rates', 'date,days,rate', '2026-11-19,30,0.04');
  const declared = ['SPY,2026-12-18,1.9,,,2026-11-02', 'SPY,2026-12-21,2,,,2026-12-01', 'SPY,2026-09-18,1.8,,,'];
  await ingest(app.store, 'dividends', dividendHeader, ...declared);
  expect(await served()).toEqual({
    rates: [{ date: '2026-11-19', days: 30, rate: 0.04 }],
    rate: 0.04,
    symbol: { dividends: [{ exDate: '2026-12-18', amount: 1.9 }] },
  });
  for (const dataset of ['dividends', 'rates'] as const) {
    const { stdout } = await tapegraph(['export', dataset], { DATABASE_URL: app.store.databaseUrl }, { now });
    expect((await ingest(app.store, dataset, stdout.trim())).status).toBe('unchanged');
  }
  await app.close();
});
