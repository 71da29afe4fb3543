// One bar per instrument and start, in the length of the dataset, of whichever format.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Dataset } from '../../../../src/core/domain/dataset.ts';
import { barAt } from '../../../../src/core/domain/market/bar.ts';
import { exchangeInstant } from '../../../../src/core/domain/market-time.ts';
import { leftLine } from '../../../../src/intake/ingest/files/tape-report.ts';
import { type FileReport, type IngestOptions, ingestFiles } from '../../../../src/intake/ingest/ingest.ts';
import { readBars } from '../../../../src/store/market/bar-blocks.ts';
import { hasSharedData, sharedData } from '../../../support/shared-data.ts';
import { storeForThisTest, type TestStore } from '../../../support/store.ts';
import { dbnBar, dbnFile, dbnSchemas } from '../../../support/tapes/dbn-encoder.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const day = '2024-12-11';
const now = () => exchangeInstant('2025-01-03', 1020);
const folder = temporaryFolder();
const contract = 'O:QQQ241220C00500000';

let store: TestStore;
beforeEach(async () => {
  store = await storeForThisTest();
});

let files = 0;
function write(name: string, content: string | Uint8Array): string {
  const path = join(folder(), `${++files}-${name}`);
  writeFileSync(path, content);
  return path;
}

async function ingest(dataset: Dataset, path: string, more: Partial<IngestOptions> = {}): Promise<FileReport> {
  return (await ingestFiles(store, dataset, [path], { now, ...more })).files[0]!;
}

async function bars(symbol: string, timeframe: '1m' | '1h' | '1d' = '1m') {
  const read = await readBars(store, [symbol], timeframe, { fromMs: 0, toMs: 4e12, limit: Infinity });
  const columns = read.get(symbol)!.bars;
  return Array.from(columns.tsMs, (_, i) => barAt(columns, i));
}

const header = 'ticker,volume,open,close,high,low,window_start';
const minute = (n: number) => exchangeInstant(day, 570) + n * 60_000;
interface Line {
  ticker: string;
  volume: number;
  open: number;
  close: number;
  high: number;
  low: number;
  start: number;
}
const line = (of: Partial<Line> = {}): Line => ({
  ticker: 'QQQ',
  volume: 1000,
  open: 100,
  close: 100.5,
  high: 101,
  low: 99,
  start: minute(0),
  ...of,
});
const csv = (lines: readonly Line[]) =>
  write(
    'bars.csv',
    [header, ...lines.map((l) => [...Object.values({ ...l, start: `${l.start}000000` })].join())].join('\n'),
  );

/** The bars of three venues of one minute. */
const venues = [
  line(),
  line({ volume: 300, open: 100.1, close: 100.6, high: 102, low: 99.5 }),
  line({ volume: 50, open: 100.1, close: 100.7, high: 100.9, low: 98.5 }),
];

/** Files of the same lines in each form. */
const forms: Record<string, (lines: readonly Line[]) => string> = {
  csv,
  parquet: (lines) => {
    const names = ['ticker', 'volume', 'open', 'close', 'high', 'low'] as const;
    const columnData = names.map((name) => ({
      name: name as string,
      data: lines.map((each) => each[name]) as unknown[],
    }));
    const starts = { name: 'window_start', data: lines.map(({ start }) => BigInt(start) * 1_000_000n) as unknown[] };
    return write('bars.parquet', new Uint8Array(parquetWriteBuffer({ columnData: [...columnData, starts] })));
  },
  json: (lines) => {
    const results = lines.map(({ volume: v, open: o, close: c, high: h, low: l, start: t }) => ({ v, o, c, h, l, t }));
    return write('bars.json', JSON.stringify({ ticker: lines[0]!.ticker, adjusted: false, status: 'OK', results }));
  },
};

describe('lines of one bar', () => {
  test('of several venues are one bar in DBN: volumes add up, the largest venue opens and closes it', async () => {
    const mappings = [{ symbol: 'QQQ', spans: [{ from: 20241211, to: 20241212, instrument: 7 }] }];
    for (const order of [venues, venues.toReversed()]) {
      const of = (type: 'ohlcv1m' | 'ohlcv1s') =>
        order.map((each, i) => dbnBar({ ...each, at: BigInt(each.start) * 1_000_000n, publisher: 40 + i }, type));
      for (const [schema, records] of [
        [dbnSchemas.ohlcv1m, of('ohlcv1m')],
        [dbnSchemas.ohlcv1s, of('ohlcv1s')],
      ] as const) {
        store = await storeForThisTest();
        const report = await ingest('stock-minute-bars', write('venues.dbn', dbnFile({ schema, mappings, records })));
        expect(report).toMatchObject({ status: 'stored', rows: 1 });
        expect(await bars('QQQ')).toEqual([
          expect.objectContaining({ open: 100, close: 100.5, high: 102, low: 98.5, volume: 1350 }),
        ]);
      }
    }
  });

  test('two of one venue are refused in DBN', async () => {
    const mappings = [{ symbol: 'QQQ', spans: [{ from: 20241211, to: 20241212, instrument: 7 }] }];
    const records = [1, 2].map((n) => dbnBar({ ...line({ volume: n }), at: BigInt(minute(0)) * 1_000_000n }));
    const path = write('twice.dbn', dbnFile({ schema: dbnSchemas.ohlcv1m, mappings, records }));
    expect(await ingest('stock-minute-bars', path)).toMatchObject({
      status: 'refused',
      reason: expect.stringContaining('two bars of QQQ of publisher 22 start at 2024-12-11T14:30:00.000Z'),
    });
  });

  test.each(Object.keys(forms))(
    'that differ are refused in %s, whatever the dataset; none of them is the bar',
    async (form) => {
      for (const dataset of ['stock-minute-bars', 'stock-day-bars'] as const) {
        const report = await ingest(dataset, forms[form]!(venues));
        expect(report).toMatchObject({ status: 'refused', changed: 0 });
        expect(report.reason).toContain('lines of one bar differ: QQQ at 2024-12-11');
      }
      const ofContract = venues.map((each) => ({ ...each, ticker: contract }));
      const report = await ingest('option-minute-bars', forms[form]!(ofContract));
      expect(report.reason).toContain(`lines of one bar differ: ${day} ${contract} at 2024-12-11T14:30:00.000Z`);
      expect(await bars('QQQ')).toEqual([]);
    },
  );

  test.each(Object.keys(forms))('that are equal count once in %s, and the report counts the others', async (form) => {
    const report = await ingest(
      'stock-minute-bars',
      forms[form]!([line(), line(), line({ start: minute(1) }), line()]),
    );
    expect(report).toMatchObject({
      status: 'stored',
      notes: expect.arrayContaining(['2 lines repeat others of the file and count once']),
    });
    expect((await bars('QQQ')).map(({ volume }) => volume)).toEqual([1000, 1000]);
  });

  test.skipIf(!hasSharedData)('bars of three venues of a minute are 1,350 shares', async () => {
    const path = sharedData('ingest_inputs/dbn-ohlcv-1m-venues.dbn');
    expect(await ingest('stock-minute-bars', path)).toMatchObject({ status: 'stored' });
    expect((await bars('QQQ'))[0]).toMatchObject({ open: 100, high: 102, low: 98.5, close: 100.5, volume: 1350 });
  });
});

describe('a second file of bars', () => {
  test('of another venue replaces nothing, is counted, and names the command', async () => {
    await ingest('stock-minute-bars', csv([line(), line({ start: minute(1) })]));
    const path = csv([{ ...venues[1]! }, line({ start: minute(1) }), line({ start: minute(2) })]);
    const report = await ingest('stock-minute-bars', path);
    expect(report).toMatchObject({ status: 'refused', changed: 0 });
    expect(report.left.map(leftLine)).toEqual([expect.stringContaining(`${day}: 3 bars are here; stored from`)]);
    expect(report.left[0]).toMatchObject({ count: 3, stored: 2, missing: 1 });
    expect((await bars('QQQ')).map(({ volume }) => volume)).toEqual([1000, 1000]);
    expect(await ingest('stock-minute-bars', path, { replace: true })).toMatchObject({ status: 'stored', left: [] });
    expect((await bars('QQQ')).map(({ volume }) => volume)).toEqual([300, 1000, 1000]);
  });

  test('leaves the contract of another venue, too', async () => {
    const [first, second] = [0, 1].map((i) => csv([{ ...venues[i]!, ticker: contract }]));
    expect(await ingest('option-minute-bars', first!)).toMatchObject({ status: 'stored' });
    expect(await ingest('option-minute-bars', second!)).toMatchObject({
      status: 'refused',
      left: [{ count: 1, stored: 1, missing: 1, command: `ingest option-minute-bars --replace ${second}` }],
    });
  });

  test('completes a bar of a minute in progress', async () => {
    await ingest('stock-minute-bars', csv([line({ volume: 10, high: 100.6, low: 99.9 })]));
    expect(await ingest('stock-minute-bars', csv([line()]))).toMatchObject({ status: 'stored', left: [] });
    expect((await bars('QQQ'))[0]).toMatchObject({ volume: 1000, high: 101 });
  });

  test('without the average price and the number of trades takes none away', async () => {
    const whole = write('whole.csv', `${header},vwap,transactions\nQQQ,10,5,5,6,4,${minute(0)}000000,5.1,3`);
    await ingest('stock-minute-bars', whole);
    const [poorer] = [write('poorer.csv', `${header}\nQQQ,10,5,5,6,4,${minute(0)}000000`)];
    expect(await ingest('stock-minute-bars', poorer!)).toMatchObject({ status: 'unchanged' });
    expect((await bars('QQQ'))[0]).toMatchObject({ vwap: 5.1, tradeCount: 3 });
  });
});

describe('a file of bars after a tape', () => {
  const tape = (tickers: readonly string[]) => {
    const prints = tickers.flatMap((ticker) =>
      [0, 1].map((n) => `${ticker},,10,${n},${5 + n},${n},${minute(0) + n}000000,100,2`),
    );
    return write(
      't.csv',
      ['ticker,conditions,exchange,id,price,sequence_number,sip_timestamp,size,tape', ...prints].join('\n'),
    );
  };

  test('replaces its bars, also when a file has the session of another symbol', async () => {
    await ingest('stock-trades', tape(['QQQ', 'SPY']));
    expect(await ingest('stock-minute-bars', csv([line({ ticker: 'SPY' })]))).toMatchObject({ status: 'stored' });
    const narrow = csv([line({ volume: 7, open: 5.5, close: 5.5, high: 5.5, low: 5.5 })]);
    expect(await ingest('stock-minute-bars', narrow)).toMatchObject({ status: 'stored', left: [] });
    expect((await bars('QQQ')).map(({ volume }) => volume)).toEqual([7]);
    const again = csv([line({ volume: 6, open: 5.4, close: 5.4, high: 5.4, low: 5.4 })]);
    expect(await ingest('stock-minute-bars', again)).toMatchObject({ status: 'refused', left: [{ missing: 1 }] });
  });

  test('without the average price and the number of trades takes none away', async () => {
    await ingest('stock-trades', tape(['QQQ']));
    const poorer = csv([line({ volume: 200, open: 5, close: 6, high: 6, low: 5 })]);
    expect(await ingest('stock-minute-bars', poorer)).toMatchObject({ status: 'unchanged' });
    expect((await bars('QQQ'))[0]).toMatchObject({ vwap: 5.5, tradeCount: 2 });
  });

  test('that replaces it counts for the session from then on, also where its bars are equal', async () => {
    await ingest('stock-trades', tape(['QQQ']));
    const equal = write('equal.csv', `${header},vwap,transactions\nQQQ,200,5,6,6,5,${minute(0)}000000,5.5,2`);
    await ingest('stock-minute-bars', equal, { replace: true });
    const other = csv([line({ volume: 6, open: 5.4, close: 5.4, high: 5.4, low: 5.4 })]);
    expect(await ingest('stock-minute-bars', other)).toMatchObject({ status: 'refused', left: [{ missing: 1 }] });
  });
});

describe('the length of bars', () => {
  const every = (minutes: number, count: number, ticker = 'QQQ') =>
    Array.from({ length: count }, (_, i) => line({ ticker, start: minute(i * minutes) }));

  test.each(Object.keys(forms))('seven hourly bars are no minutes in %s', async (form) => {
    for (const [dataset, ticker] of [
      ['stock-minute-bars', 'QQQ'],
      ['option-minute-bars', contract],
    ] as const)
      expect(await ingest(dataset, forms[form]!(every(60, 7, ticker)))).toMatchObject({
        status: 'refused',
        reason: expect.stringContaining('expected bars of a minute, but all of an instrument start at multiples of 60'),
      });
    expect(await bars('QQQ', '1h')).toEqual([]);
  });

  test('longer bars of one instrument are found among the minutes of another', async () => {
    const mixed = csv([...every(5, 40), ...every(1, 40, 'SPY')]);
    expect(await ingest('stock-minute-bars', mixed)).toMatchObject({
      reason: expect.stringContaining('multiples of 5 minutes'),
    });
  });

  test('days are no minutes, and weeks no days', async () => {
    const from = (dates: readonly string[]) => csv(dates.map((date) => line({ start: exchangeInstant(date) })));
    const mondays = ['2024-10-07', '2024-10-14', '2024-10-21', '2024-10-28', '2024-11-04'];
    expect(await ingest('stock-day-bars', from(mondays))).toMatchObject({
      status: 'refused',
      reason: expect.stringContaining('expected bars of a day, but all are 7 or more days apart'),
    });
    const days = ['2024-10-07', '2024-10-08', '2024-10-09', '2024-10-10', '2024-10-11'];
    expect(await ingest('stock-minute-bars', from(days))).toMatchObject({
      status: 'refused',
      reason: expect.stringContaining('expected bars of a minute'),
    });
    expect(await ingest('stock-day-bars', from(days))).toMatchObject({ status: 'stored' });
  });

  test('minutes with pauses are minutes', async () => {
    const starts = [0, 5, 60, 61, 125, 300, 389];
    expect(await ingest('stock-minute-bars', csv(starts.map((n) => line({ start: minute(n) }))))).toMatchObject({
      status: 'stored',
    });
  });
});
