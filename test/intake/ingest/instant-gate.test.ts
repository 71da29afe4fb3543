import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatsOf } from '../../../scripts/generate/format-tables.ts';
import { type Dataset, datasetNames } from '../../../src/core/domain/dataset.ts';
import { journalTradeFields } from '../../../src/core/domain/journal.ts';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { type FileReport, ingestFiles } from '../../../src/intake/ingest/ingest.ts';
import type { HeaderFormat } from '../../../src/intake/tape/formats/format.ts';
import { readBars } from '../../../src/store/market/bar-blocks.ts';
import { hasSharedData, sharedData } from '../../support/shared-data.ts';
import { storeForThisTest, type TestStore, testStore } from '../../support/store.ts';
import { vendorFile } from '../../support/tapes/tape-lines.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const folder = temporaryFolder();
const nowMs = exchangeInstant('2025-01-03', 17 * 60);

// For all tests but those that must begin with an empty one: what is refused leaves nothing, and no test stores a
// session that another looks at.
let shared: TestStore;
beforeAll(async () => {
  shared = await testStore();
});
afterAll(() => shared.close());

async function ingest(dataset: Dataset, path: string, store = shared): Promise<FileReport> {
  const { files } = await ingestFiles(store, dataset, [path], { now: () => nowMs });
  return files[0]!;
}
const ingestLines = (dataset: Dataset, lines: readonly string[], store = shared) =>
  ingest(dataset, vendorFile(folder(), `${dataset}.csv`, lines), store);

const heads = {
  bars: 'ticker,volume,open,close,high,low,window_start,transactions',
  stocks: 'ticker,conditions,correction,exchange,id,price,sequence_number,sip_timestamp,size',
  options: 'ticker,conditions,correction,exchange,price,sip_timestamp,size',
  quotes: 'ticker,ask_price,bid_price,sequence_number,sip_timestamp',
};
/** A file of each dataset that has times, with one line at an instant as it is written. */
const files: Partial<Record<Dataset, (stamp: string) => string[]>> = {
  'stock-minute-bars': (stamp) => [heads.bars, `SPY,100,10,10,11,9,${stamp},5`],
  'stock-day-bars': (stamp) => [heads.bars, `SPY,100,10,10,11,9,${stamp},5`],
  'option-minute-bars': (stamp) => [heads.bars, `O:SPY250117C00600000,100,10,10,11,9,${stamp},5`],
  'stock-trades': (stamp) => [heads.stocks, `SPY,,0,11,1,420.5,1,${stamp},100`],
  'option-trades': (stamp) => [heads.options, `O:SPY250117C00600000,209,0,302,1.25,${stamp},7`],
  'option-quotes': (stamp) => [heads.quotes, `O:SPY250117C00600000,1.3,1.2,1,${stamp}`],
};
const timed = Object.keys(files) as Dataset[];
const at = exchangeInstant('2024-12-03', 600);

test.each(timed)('a file of %s in another unit is refused, and the reason names the unit', async (dataset) => {
  for (const [unit, stamp] of [
    ['seconds', at / 1000],
    ['milliseconds', at],
    ['microseconds', at * 1000],
  ] as const) {
    const report = await ingestLines(dataset, files[dataset]!(String(stamp)));
    expect(report).toMatchObject({ status: 'refused', changed: 0 });
    expect(report.badLines[0]!.reason).toContain(`expected nanoseconds since 1970, not ${unit}, got "${stamp}"`);
  }
});

test.each(timed)('%s are from 1990 to an hour after the clock', async (dataset) => {
  const hour = 3_600_000;
  for (const ms of [Date.UTC(1989, 11, 29, 15), nowMs + hour + 60_000, Date.UTC(2261, 0, 5, 15)]) {
    const report = await ingestLines(dataset, files[dataset]!(`${ms}000000`));
    expect(report).toMatchObject({ status: 'refused', changed: 0 });
    expect(report.badLines[0]!.reason).toContain('from 1990 to an hour from now');
  }
  for (const ms of [Date.UTC(1990, 0, 2, 15), nowMs + hour])
    expect(await ingestLines(dataset, files[dataset]!(`${ms}000000`))).toMatchObject({ status: 'stored' });
});

test('a chain is from 1990 to an hour after the clock', async () => {
  const chain = (year: number) => [
    `S&P 500 INDEX,Last: 5051.42,Change: 1`,
    `"Date: January 3, ${year} at 4:00 PM EST"`,
    `Expiration Date,Calls,Last Sale,Net,Bid,Ask,Volume,IV,Delta,Gamma,Open Interest,Strike,Puts,Last Sale,Net,Bid,Ask,Volume,IV,Delta,Gamma,Open Interest`,
    `Fri Dec 17 2027,SPXW271217C05000000,60,0,58,62,10,0.12,0.5,0.002,100,5000.00,SPXW271217P05000000,60,0,58,62,10,0.12,-0.5,0.002,100`,
  ];
  for (const year of [2027, 1985]) {
    const { status, reason } = await ingestLines('chain', chain(year));
    expect({ status, reason }).toEqual({
      status: 'refused',
      reason: `chain.csv: time of the chain: expected a time from 1990 to an hour from now, got ${year}-01-03T21:00:00.000Z`,
    });
  }
  expect(await ingestLines('chain', chain(2025))).toMatchObject({ status: 'stored' });
});

test('a day bar stamped midnight UTC is of that date, and a date without trading has none', async () => {
  const store = await storeForThisTest();
  const dayBar = (ms: number) => ingestLines('stock-day-bars', files['stock-day-bars']!(`${ms}000000`), store);
  for (const ms of [Date.UTC(2024, 11, 3), exchangeInstant('2024-12-04'), exchangeInstant('2024-12-05', 960)])
    expect(await dayBar(ms)).toMatchObject({ status: 'stored' });
  const read = await readBars(store, ['SPY'], '1d', { fromMs: 0, toMs: nowMs, limit: Infinity });
  const dates = ['2024-12-03', '2024-12-04', '2024-12-05'];
  expect(Array.from(read.get('SPY')!.bars.tsMs)).toEqual(dates.map((date) => exchangeInstant(date)));
  for (const [ms, date] of [
    [Date.UTC(2024, 11, 25), '2024-12-25'],
    [exchangeInstant('2024-12-01'), '2024-12-01'],
  ] as const) {
    const report = await dayBar(ms);
    expect(report).toMatchObject({ status: 'refused', changed: 0 });
    expect(report.badLines[0]!.reason).toBe(`window_start: expected a day with trading, got ${date}`);
  }
});

test.each([
  ['stock-trades', 'prints'],
  ['option-trades', 'prints'],
  ['option-quotes', 'quotes'],
  ['stock-minute-bars', 'bars'],
  ['option-minute-bars', 'bars'],
] as const)(
  '%s with more than half their %s on days without trading are refused, and the reason names zone and unit',
  async (dataset, rows) => {
    const tape = (instants: readonly number[]) => {
      const [head, line] = files[dataset]!('STAMP');
      return [head!, ...instants.map((ms, i) => line!.replace('STAMP', `${ms + i * 60_000}000000`))];
    };
    const [saturday, monday] = [exchangeInstant('2024-12-07', 600), exchangeInstant('2024-12-09', 600)];
    const { status, reason } = await ingestLines(dataset, tape([saturday, saturday, monday]));
    expect(status).toBe('refused');
    expect(reason).toContain(`2 of 3 ${rows} are on days without trading: check the zone and the unit of`);
    expect(await ingestLines(dataset, tape([saturday, monday]))).toMatchObject({ status: 'stored' });
    // The evening before a trading day is of that day.
    const evening = exchangeInstant('2024-12-08', 20 * 60 + 15);
    const other = await storeForThisTest();
    expect(await ingestLines(dataset, tape([evening, evening]), other)).toMatchObject({ status: 'stored' });
  },
);

test.each(['option-trades', 'option-quotes', 'option-minute-bars'] as const)(
  '%s of a contract after its last session are refused, and the reason names its end',
  async (dataset) => {
    // Expiries before February 2015 are dated Saturday.
    for (const [expiry, last, end] of [
      ['241213', '2024-12-13', '2024-12-14T01:00:00.000Z'],
      ['140118', '2014-01-17', '2014-01-18T01:00:00.000Z'],
    ] as const) {
      const [head, line] = files[dataset]!('STAMP');
      const at = (ms: number) => [head!, line!.replace('250117', expiry).replace('STAMP', `${ms}000000`)];
      const endMs = exchangeInstant(last, 20 * 60);
      const report = await ingestLines(dataset, at(endMs));
      expect(report).toMatchObject({ status: 'refused', changed: 0 });
      expect(report.badLines[0]!.reason).toContain(
        `expected a time before ${end}, the end of the contract's last session`,
      );
      expect(await ingestLines(dataset, at(endMs - 60_000))).toMatchObject({ status: 'stored' });
    }
  },
);

test.skipIf(!hasSharedData).each([
  ['unit-ms-day-bars.csv', 'stock-day-bars', 'milliseconds'],
  ['unit-ms-stock-trades.csv', 'stock-trades', 'milliseconds'],
  ['unit-us-option-quotes.csv', 'option-quotes', 'microseconds'],
  ['unit-us-option-trades.csv', 'option-trades', 'microseconds'],
  ['unit-us-stock-trades.csv', 'stock-trades', 'microseconds'],
] as const)('%s is refused, and the reason names the unit', async (file, dataset, unit) => {
  const report = await ingest(dataset, sharedData(`ingest_inputs/${file}`));
  expect(report).toMatchObject({ status: 'refused', changed: 0 });
  expect(report.badLines[0]!.reason).toContain(`not ${unit}`);
});

describe('sessions of open interest', () => {
  const line = (date: string) => ['ticker,open_interest,session_date', `O:SPY270115C00600000,10,${date}`];

  test('are days with trading up to the next one', async () => {
    for (const date of ['2024-12-28', '2025-01-01', '2025-01-07', '2027-12-01', '1989-12-29']) {
      const report = await ingestLines('open-interest', line(date));
      expect(report).toMatchObject({ status: 'refused', changed: 0 });
      expect(report.badLines[0]!.reason).toBe(
        `session_date: expected a day with trading from 1990 to 2025-01-06, got ${date}`,
      );
    }
    for (const date of ['2025-01-03', '2025-01-06'])
      expect(await ingestLines('open-interest', line(date))).toMatchObject({ status: 'stored' });
  });

  test('in the name of a file, too', async () => {
    const path = vendorFile(folder(), 'oi_20241228.csv', ['ticker,open_interest', 'O:SPY270115C00600000,10']);
    expect(await ingest('open-interest', path)).toMatchObject({
      status: 'refused',
      reason: expect.stringContaining('expected a day with trading from 1990 to 2025-01-06, got 2024-12-28'),
    });
  });

  test.skipIf(!hasSharedData)('of closed days and years ahead are bad lines', async () => {
    const report = await ingest('open-interest', sharedData('ingest_inputs/open-interest-closed-days.csv'));
    expect(report).toMatchObject({ status: 'refused', changed: 0, badLineCount: 3 });
  });
});

/** A file of each list with dates, with one line of a date; `ahead`: dates are announced before they come. */
const lists: Partial<Record<Dataset, { ahead: boolean; lines(date: string): string[] }>> = {
  rates: { ahead: false, lines: (date) => ['date,days,rate', `${date},30,0.04`] },
  'volatility-days': { ahead: false, lines: (date) => ['symbol,date,iv30', `SPY,${date},0.18`] },
  splits: { ahead: true, lines: (date) => ['symbol,ex_date,ratio', `SPY,${date},2:1`] },
  dividends: { ahead: true, lines: (date) => ['symbol,ex_date,amount', `SPY,${date},1.5`] },
  roots: { ahead: true, lines: (date) => ['root,underlying,style,settlement,from', `SPYX,SPY,american,pm,${date}`] },
};
const listNames = Object.keys(lists) as Dataset[];

describe.each(listNames)('the dates of %s', (dataset) => {
  const { ahead, lines } = lists[dataset]!;

  test(`end ${ahead ? 'three years from' : 'with'} the day of the clock`, async () => {
    const last = ahead ? '2028-01-03' : '2025-01-03';
    for (const date of ahead ? ['2028-01-04', '2099-06-01'] : ['2025-01-06', '2026-01-05', '2099-06-01']) {
      const report = await ingestLines(dataset, lines(date));
      expect(report).toMatchObject({ status: 'refused', changed: 0 });
      expect(report.badLines[0]!.reason).toMatch(new RegExp(`expected a date up to ${last}, got ${date}$`));
    }
    for (const date of [last, '2024-12-03'])
      expect(await ingestLines(dataset, lines(date))).toMatchObject({ status: 'stored' });
  });
});

const tested: readonly Dataset[] = [...timed, ...listNames, 'chain', 'open-interest'];

test.each(datasetNames.filter((dataset) => !tested.includes(dataset)))(
  'files of %s, which no test above gives a time, have none in any format',
  (dataset) => {
    for (const format of formatsOf(dataset)) {
      expect(format.time).toBeNull();
      const names = [...format.required, ...('optional' in format ? (format as HeaderFormat).optional : [])];
      expect(names.filter((name) => /date|time|stamp|session|_at$|^from$|^to$/i.test(name))).toEqual([]);
    }
  },
);

test('trades of a journal are from 1990 to an hour after the clock, in imports and in single writes', () => {
  const trade = { account_id: 'a', symbol: 'SPY', side: 'buy', qty: 1, price: 1 };
  for (const ts of [at / 1000, at * 1000, Date.UTC(2099, 0), '2099-01-01', '1989-12-31', nowMs + 3_600_001]) {
    expect(journalTradeFields.read({ ...trade, ts }, nowMs)).toBe('bad_ts');
    expect(() => journalTradeFields.require({ ...trade, accountId: 'a', ts }, nowMs)).toThrow();
    expect(() => journalTradeFields.requirePatch({ ts }, nowMs)).toThrow();
  }
  for (const ts of [at, nowMs + 3_600_000, '2024-12-03T10:00'])
    expect(journalTradeFields.read({ ...trade, ts }, nowMs)).toMatchObject({ tsMs: expect.any(Number) });
});
