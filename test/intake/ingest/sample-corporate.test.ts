import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { billOn } from '../../../src/core/domain/market/rates.ts';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { ensureStarterRegistry } from '../../../src/intake/ingest/files/lists/starter-registry.ts';
import { ingestFiles } from '../../../src/intake/ingest/ingest.ts';
import { ensureSampleMarket } from '../../../src/intake/ingest/sample/sample-market.ts';
import { type Json, type TestApp, testApp } from '../../support/app.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const nowMs = exchangeInstant('2026-11-19', 18 * 60);
const tape = { optionPrints: 500, plants: 14, stockPrints: 0, symbols: ['SPY'] };
const shape = {
  barSessions: 1,
  chainSessions: 1,
  historySessions: 130,
  captureEveryMinutes: 390,
  tapeSessions: 0,
  tape,
};
const folder = temporaryFolder();

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ nowMs });
  await ensureStarterRegistry(app.store, () => nowMs);
  expect(await ensureSampleMarket(app.store, { dataDir: folder(), now: () => nowMs, shape })).toBe('created');
});
afterAll(() => app.close());

async function ask(query: string): Promise<Json> {
  const { data, errors } = await app.graphql(query);
  expect(errors).toBeUndefined();
  return data;
}

const closesOf = async (adjust: string) => {
  const range = `from: "2026-05-18", to: "2026-11-20", timeframe: "1d", limit: 1000`;
  const { symbol } = await ask(`{ symbol(symbol: "TQQQ") { bars(${range}, adjust: ${adjust}) { rows { close } } } }`);
  return symbol.bars.rows.map(({ close }: Json) => close) as number[];
};
const largestStep = (closes: number[]) =>
  Math.max(...closes.slice(1).map((close, i) => Math.abs(Math.log(close / closes[i]!))));

test('the sample market has splits, dividends, rates and roots, which the graph shows', async () => {
  const { symbol, spy, rates, rate } = await ask(`{
    symbol(symbol: "TQQQ") { splits { exDate ratio } }
    spy: symbol(symbol: "SPY") { dividends { exDate amount kind } }
    rates { days rate }
    rate(days: 60)
  }`);
  expect(symbol.splits).toEqual([{ exDate: '2026-06-10', ratio: 2 }]);
  expect(spy.dividends.map(({ exDate }: Json) => exDate)).toEqual(['2026-03-20', '2026-06-18', '2026-09-18']);
  expect(rates).toHaveLength(5);
  expect(rate).toBe(0.045);
  const { rows } = await app.store.pool.query('SELECT root FROM option_roots ORDER BY root');
  expect(rows).toEqual([{ root: 'C1' }, { root: 'TSLA1' }]);
});

test('its adjusted bars are continuous over the split, and those as printed are not', async () => {
  const [raw, split] = [await closesOf('raw'), await closesOf('split')];
  expect(raw.length).toBeGreaterThan(100);
  expect(largestStep(raw)).toBeGreaterThan(0.5);
  expect(largestStep(split)).toBeLessThan(0.3);
});

test('its rates and roots go when other data comes, which is not to be priced with them', async () => {
  const path = join(folder(), 'own.csv');
  const line = `MSFT,1000,400,401,402,399,${exchangeInstant('2026-11-18')}000000,10,400.5\n`;
  writeFileSync(path, `ticker,volume,open,close,high,low,window_start,transactions,vwap\n${line}`);
  const { files } = await ingestFiles(app.store, 'stock-day-bars', [path], { now: () => nowMs });
  expect(files[0]!.status).toBe('stored');
  const { rates, rate, symbol } = await ask(
    '{ rates { date days rate } rate(days: 60) symbol(symbol: "TQQQ") { splits { exDate } } }',
  );
  // Without a curve US bills stand in.
  const bill = billOn('2026-11-20')!;
  expect([rates, rate, symbol.splits]).toEqual([[bill], bill.rate, []]);
  expect((await app.store.pool.query('SELECT * FROM option_roots')).rows).toEqual([]);
});
