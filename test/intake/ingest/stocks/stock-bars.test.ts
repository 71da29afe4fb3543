import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { barAt, type Timeframe } from '../../../../src/core/domain/market/bar.ts';
import { exchangeInstant } from '../../../../src/core/domain/market-time.ts';
import { ingestFiles } from '../../../../src/intake/ingest/ingest.ts';
import { readBars } from '../../../../src/store/market/bar-blocks.ts';
import { symbolRegistry } from '../../../../src/store/market/symbols.ts';
import { hasSharedData, sharedData } from '../../../support/shared-data.ts';
import { storeForThisTest, type TestStore, testStore } from '../../../support/store.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const now = () => 1_800_000_000_000;
const header = 'ticker,volume,open,close,high,low,window_start,transactions';

async function bars(store: TestStore, symbol: string, timeframe: Timeframe) {
  const read = await readBars(store, [symbol], timeframe, { fromMs: 0, toMs: 4e12, limit: Infinity });
  const columns = read.get(symbol)!.bars;
  return Array.from(columns.tsMs, (_, i) => barAt(columns, i));
}

const onDate = (date: string) => (bar: { tsMs: number }) => new Date(bar.tsMs).toISOString().startsWith(date);
const volumeOf = (list: { volume: number }[]) => list.reduce((sum, bar) => sum + bar.volume, 0);

describe.skipIf(!hasSharedData)('real flat files of stocks', () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await testStore();
    for (const [dataset, pattern] of [
      ['stock-minute-bars', 'stocks_minute_aggs/*.csv.gz'],
      ['stock-day-bars', 'stocks_day_aggs/*.csv.gz'],
    ] as const) {
      const { files } = await ingestFiles(store, dataset, [sharedData(pattern)], { now });
      for (const report of files) expect(report).toMatchObject({ status: 'stored', badLineCount: 0 });
    }
  });
  afterAll(() => store.close());

  test('SPY has 390 minute bars and a volume of 57,243,643 on 2019-02-13', async () => {
    const session = (await bars(store, 'SPY', '1m')).filter(onDate('2019-02-13'));
    expect(session).toHaveLength(390);
    expect(volumeOf(session)).toBe(57_243_643);
    expect(session[0]!.tsMs).toBe(exchangeInstant('2019-02-13', 570));
    expect(session.every((bar) => bar.vwap === null && bar.tradeCount === null)).toBe(true);
  });

  test('5m and 1h follow from 1m: as many as the session has, with the same volume, and vwap unknown', async () => {
    for (const [timeframe, count] of [
      ['5m', 78],
      ['1h', 7],
    ] as const) {
      const session = (await bars(store, 'SPY', timeframe)).filter(onDate('2019-02-13'));
      expect(session).toHaveLength(count);
      expect(volumeOf(session)).toBe(57_243_643);
      expect(session.every((bar) => bar.vwap === null)).toBe(true);
    }
  });

  test('a day bar starts at midnight New York, in winter and in summer', async () => {
    const days = await bars(store, 'AAPL', '1d');
    expect(days).toHaveLength(283);
    expect(days[0]!.tsMs).toBe(exchangeInstant('2018-01-02'));
    const hours = new Set(days.map((bar) => new Date(bar.tsMs).toISOString().slice(11)));
    expect(hours).toEqual(new Set(['05:00:00.000Z', '04:00:00.000Z']));
  });

  test('tickers not known before are in the directory and not in the registry', async () => {
    const registry = await symbolRegistry(store);
    expect(registry.get('XLP')).toMatchObject({ registered: false, class: 'equity' });
    expect(registry.registered()).toEqual([]);
  });

  test('a second run changes nothing and says so', async () => {
    const rows = async () =>
      (await store.pool.query('SELECT symbol, timeframe, span_start, version, xmin FROM bar_blocks ORDER BY 1, 2, 3'))
        .rows;
    const before = await rows();
    const { files } = await ingestFiles(store, 'stock-minute-bars', [sharedData('stocks_minute_aggs/*.csv.gz')], {
      now,
    });
    expect(files.map((file) => file.status)).toEqual(Array(5).fill('unchanged'));
    expect(files[0]!.reason).toContain('already stored');
    expect(await rows()).toEqual(before);
  });
});

/** `count` minutes of a ticker from 2024-03-08 09:30 New York on, as lines. */
function minutes(ticker: string, count: number, price = 100): string[] {
  const start = exchangeInstant('2024-03-08', 570);
  return Array.from({ length: count }, (_, i) => {
    const open = price + i / 100;
    return `${ticker},${100 + i},${open},${open + 0.05},${open + 0.1},${open - 0.1},${start + i * 60_000}000000,${i + 1}`;
  });
}

const versions = 'SELECT symbol, timeframe, span_start, version FROM bar_blocks ORDER BY 1, 2, 3';

describe('stock bar files', () => {
  const folder = temporaryFolder();
  const file = (name: string, lines: string[]): string => {
    const path = join(folder(), name);
    writeFileSync(path, name.endsWith('.gz') ? gzipSync(lines.join('\n')) : lines.join('\n'));
    return path;
  };

  test('in any order of lines and columns, with CRLF and a byte order mark, give the blocks of the usual order', async () => {
    const [plain, odd] = [await storeForThisTest(), await storeForThisTest()];
    const lines = [...minutes('AAA', 60), ...minutes('BBB', 60, 20)];
    await ingestFiles(plain, 'stock-minute-bars', [file('plain.csv', [header, ...lines])], { now });
    const shuffled = lines.map((line, i) => ({ line, key: (i * 7919) % 120 })).sort((a, b) => a.key - b.key);
    const swapped = shuffled.map(({ line }) => {
      const [ticker, volume, ...rest] = line.split(',');
      return [...rest, `"${volume}"`, ticker].join(',');
    });
    const path = join(folder(), 'odd.csv');
    const columns = 'open,close,high,low,window_start,transactions,volume,ticker';
    writeFileSync(path, `\ufeff${columns}\r\n${swapped.join('\r\n')}\r\n`);
    await ingestFiles(odd, 'stock-minute-bars', [path], { now });
    expect((await odd.pool.query(versions)).rows).toEqual((await plain.pool.query(versions)).rows);
  });

  test('with a bad line are refused whole, naming file, line and reason', async () => {
    const store = await storeForThisTest();
    const lines = minutes('AAA', 30);
    lines[9] = lines[9]!.replace('AAA', 'not a ticker');
    lines[19] = lines[19]!.replace(/,[\d.]+,/, ',many,');
    const path = file('bad.csv', [header, ...lines]);
    const { files } = await ingestFiles(store, 'stock-minute-bars', [path], { now });
    expect(files[0]).toMatchObject({
      status: 'refused',
      rows: 0,
      badLineCount: 2,
      reason: '2 bad lines, at most 0 allowed',
    });
    expect(files[0]!.badLines).toEqual([
      { file: path, line: 11, reason: expect.stringContaining('ticker: expected a ticker') },
      { file: path, line: 21, reason: expect.stringContaining('volume: expected a number') },
    ]);
    for (const table of ['bar_blocks', 'symbols', 'ingested_files']) {
      expect((await store.pool.query(`SELECT count(*)::int AS n FROM ${table}`)).rows[0].n, table).toBe(0);
    }
  });

  test('with figures that no answer could hold are refused, not stored for readers to fail on', async () => {
    const store = await storeForThisTest();
    const [line] = minutes('AAA', 1);
    const cells = line!.split(',');
    const changed = (column: string, value: string) =>
      cells.map((cell, i) => (header.split(',')[i] === column ? value : cell)).join(',');
    const lines = [
      changed('volume', '99999999999999999999'),
      changed('transactions', '9007199254740991'),
      changed('high', '1e300'),
    ];
    const { files } = await ingestFiles(store, 'stock-minute-bars', [file('huge.csv', [header, ...lines])], { now });
    expect(files[0]!.badLines.map(({ line, reason }) => `${line} ${reason}`)).toEqual([
      expect.stringMatching(/^2 volume: expected a number from 0 to /),
      expect.stringMatching(/^3 transactions: expected a whole number/),
      expect.stringMatching(/^4 high: expected a price above 0 and up to /),
    ]);
  });

  test('with no more bad lines than allowed are stored without them', async () => {
    const store = await storeForThisTest();
    const lines = minutes('AAA', 30);
    lines[3] = 'AAA,1,2';
    const path = file('some.csv', [header, ...lines]);
    const { files } = await ingestFiles(store, 'stock-minute-bars', [path], { now, maxErrors: 1 });
    const badLines = [{ line: 5, reason: 'expected 8 columns, found 3' }];
    expect(files[0]).toMatchObject({ status: 'stored', rows: 29, badLines });
    expect(await bars(store, 'AAA', '1m')).toHaveLength(29);
  });

  test('cut short in their compression are refused with that reason, and the others go on', async () => {
    const store = await storeForThisTest();
    const whole = gzipSync([header, ...minutes('AAA', 390)].join('\n'));
    const cut = join(folder(), 'cut.csv.gz');
    writeFileSync(cut, whole.subarray(0, whole.length - 20));
    const good = file('good.csv.gz', [header, ...minutes('BBB', 5)]);
    const { files } = await ingestFiles(store, 'stock-minute-bars', [cut, good], { now });
    expect(files.map((report) => report.status)).toEqual(['refused', 'stored']);
    expect(files[0]!.reason).toBe('cut.csv.gz: the gzip data is truncated: the file is incomplete');
    expect(await bars(store, 'AAA', '1m')).toEqual([]);
  });

  test('sent again under another name and packing change nothing and say so', async () => {
    const store = await storeForThisTest();
    const lines = [header, ...minutes('AAA', 40)];
    // The content of a session in progress is not remembered.
    const now = () => exchangeInstant('2024-03-08', 610);
    await ingestFiles(store, 'stock-minute-bars', [file('first.csv', lines)], { now });
    const { files } = await ingestFiles(store, 'stock-minute-bars', [file('second.csv.gz', lines)], { now });
    expect(files[0]).toMatchObject({
      status: 'unchanged',
      rows: 40,
      changed: 0,
      reason: 'all of it is already stored',
    });
  });

  test('that correct or add minutes change those, and the longer bars they lie in', async () => {
    const store = await storeForThisTest();
    const lines = minutes('AAA', 40);
    const first = file('a.csv', [header, ...lines.slice(0, 20), ...lines.slice(21)]);
    await ingestFiles(store, 'stock-minute-bars', [first], { now });
    const late = file('b.csv', [`${header},vwap`, `${lines[20]!.replace(/,[\d.]+,/, ',5000,')},100.25`]);
    const { files } = await ingestFiles(store, 'stock-minute-bars', [late], { now });
    expect(files[0]).toMatchObject({ status: 'stored', rows: 1, changed: 3 });
    const minute = await bars(store, 'AAA', '1m');
    expect(minute).toHaveLength(40);
    expect(minute[20]).toMatchObject({ volume: 5000, vwap: 100.25, tradeCount: 21 });
    const five = await bars(store, 'AAA', '5m');
    expect(five[4]).toMatchObject({ volume: volumeOf(minute.slice(20, 25)), vwap: null });
    const hours = await bars(store, 'AAA', '1h');
    expect(hours.map((bar) => bar.volume)).toEqual([volumeOf(minute.slice(0, 30)), volumeOf(minute.slice(30))]);
  });
});
