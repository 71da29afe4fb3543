// Files that say less, or other things, than they seem to: each is refused by name and cause, or read as meant.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Dataset } from '../../../src/core/domain/dataset.ts';
import { barAt } from '../../../src/core/domain/market/bar.ts';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { type FileReport, ingestFiles } from '../../../src/intake/ingest/ingest.ts';
import { readVendorTicker } from '../../../src/intake/tape/text/vendor-ticker.ts';
import { readBars } from '../../../src/store/market/bar-blocks.ts';
import { allSymbols } from '../../../src/store/market/symbols.ts';
import { hasSharedData, sharedData } from '../../support/shared-data.ts';
import { storeForThisTest, type TestStore } from '../../support/store.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const now = () => exchangeInstant('2025-01-13', 1020);
const folder = temporaryFolder();

let store: TestStore;
beforeEach(async () => {
  store = await storeForThisTest();
});

function write(name: string, ...lines: readonly string[]): string {
  const path = join(folder(), name);
  writeFileSync(path, lines.join('\n'));
  return path;
}

const ingest = async (dataset: Dataset, ...paths: readonly string[]): Promise<FileReport[]> =>
  (await ingestFiles(store, dataset, paths, { now })).files;
const given = (name: string) => sharedData(`ingest_inputs/${name}`);

async function bars(symbol: string, timeframe: '1m' | '1d' = '1m') {
  const read = await readBars(store, [symbol], timeframe, { fromMs: 0, toMs: 4e12, limit: Infinity });
  const columns = read.get(symbol)!.bars;
  return Array.from(columns.tsMs, (_, i) => barAt(columns, i));
}

describe('a file of which nothing can be stored', () => {
  test('is refused and not remembered, and the sample stays', async () => {
    const head = 'ticker,conditions,correction,exchange,id,price,sequence_number,sip_timestamp,size';
    const path = write('empty.csv', head);
    for (const attempt of [1, 2]) {
      const [report] = await ingest('stock-trades', path);
      expect({ attempt, ...report }).toMatchObject({
        status: 'refused',
        reason: 'empty.csv: no line of it can be stored',
      });
    }
    expect((await store.pool.query('SELECT count(*)::int AS n FROM ingested_files')).rows[0].n).toBe(0);
  });

  test('names the tickers that cannot be served', async () => {
    const path = write(
      'a.csv',
      'ticker,volume,open,close,high,low,window_start',
      'VST.WS.A,1,1,1,1,1,1733236200000000000',
    );
    expect((await ingest('stock-minute-bars', path))[0]).toMatchObject({
      status: 'refused',
      reason: expect.stringContaining('no line of it can be stored; not servable: 1 lines of 1 tickers'),
    });
  });

  test.skipIf(!hasSharedData).each([
    ['TSLA-2024-12.csv', 'stock-day-bars', 'begin its name with it'],
    ['header-only-stock-trades.csv', 'stock-trades', 'no line of it can be stored'],
  ] as const)('%s is refused', async (name, dataset, reason) => {
    expect((await ingest(dataset, given(name)))[0]).toMatchObject({
      status: 'refused',
      reason: expect.stringContaining(reason),
    });
  });
});

describe('an error that no reader foresaw', () => {
  test('refuses its file by name and cause, and the others are stored', async () => {
    // The database cannot hold this name.
    const bad = write('bad.csv', 'symbol,name', 'ABCD,one\u0000two');
    const [first, second] = await ingest('symbols', bad, write('good.csv', 'symbol,name', 'KO,Coca-Cola'));
    expect(first).toMatchObject({
      status: 'refused',
      reason: expect.stringMatching(/^bad\.csv: cannot be read \(.+\)$/),
    });
    expect(second).toMatchObject({ status: 'stored' });
  });

  test.skipIf(!hasSharedData)('a chain without contracts is refused, and the chain after it is stored', async () => {
    const [first, second] = await ingest('chain', given('yf-empty-puts.csv'), given('tradier-expiry-1.json'));
    expect(first).toMatchObject({ status: 'refused', reason: 'yf-empty-puts.csv: the chain has no contracts' });
    expect(second).toMatchObject({ status: 'stored' });
  });

  test.skipIf(!hasSharedData)('a chain without greeks is stored', async () => {
    expect((await ingest('chain', given('tradier-without-greeks.json')))[0]).toMatchObject({ status: 'stored' });
  });
});

describe('indexes', () => {
  const values = 'I:SPX,6000.1,6001.2,6002,5999.5,1733236200000000000';
  const head = 'ticker,open,close,high,low,window_start';

  test('have bars of volume 0, under their own ticker, and are indexes in the directory', async () => {
    expect((await ingest('stock-minute-bars', write('index.csv', head, values)))[0]).toMatchObject({
      status: 'stored',
    });
    expect(await bars('SPX')).toEqual([
      expect.objectContaining({ close: 6001.2, volume: 0, vwap: null, tradeCount: null }),
    ]);
    expect(await allSymbols(store)).toEqual([expect.objectContaining({ symbol: 'SPX', class: 'index' })]);
    // Known by now, the index needs no prefix; a vendor's volume is that of its shares.
    const lines = ['SPX,6000.1,6001.2,6002,5999.5,1733236260000000000', 'SPX,7,1,1,1,1,1733236320000000000'];
    expect((await ingest('stock-minute-bars', write('more.csv', head, lines[0]!)))[0]).toMatchObject({
      status: 'stored',
    });
    const withVolume = write('volume.csv', 'ticker,volume,open,close,high,low,window_start', lines[1]!);
    expect((await ingest('stock-minute-bars', withVolume))[0]).toMatchObject({ status: 'stored' });
    expect((await bars('SPX')).map(({ volume }) => volume)).toEqual([0, 0, 0]);
  });

  test('bars of a stock without a volume are bad lines', async () => {
    const path = write('stock.csv', head, 'SPY,600,601,602,599,1733236200000000000');
    expect((await ingest('stock-minute-bars', path))[0]).toMatchObject({
      status: 'refused',
      badLines: [{ line: 2, reason: 'volume: expected a number from 0 to 10000000000, got ""' }],
    });
  });

  test('of pages without volumes are read', async () => {
    const results = [{ o: 6000, h: 6002, l: 5999, c: 6001, t: 1733236200000 }];
    const path = write('I_SPX.json', JSON.stringify({ ticker: 'I:SPX', adjusted: false, status: 'OK', results }));
    expect((await ingest('stock-minute-bars', path))[0]).toMatchObject({ status: 'stored' });
    expect(await bars('SPX')).toEqual([expect.objectContaining({ volume: 0 })]);
  });

  test('a chain has the value of its index', async () => {
    const stamp = 1733236200000000000n;
    const page = (right: string) =>
      `{"details":{"ticker":"O:SPXW241220${right}06000000"},"last_quote":{"ask":41,"bid":40,"last_updated":${stamp}},` +
      `"open_interest":5,"underlying_asset":{"ticker":"I:SPX","value":6001.2,"last_updated":${stamp}}}`;
    const path = write('chain.json', `{"status":"OK","results":[${page('C')},${page('P')}]}`);
    expect((await ingest('chain', path))[0]).toMatchObject({ status: 'stored' });
    expect((await store.pool.query('SELECT spot FROM chain_captures')).rows).toEqual([{ spot: 6001.2 }]);
  });

  test.skipIf(!hasSharedData)('a file without a volume column is stored', async () => {
    expect((await ingest('stock-minute-bars', given('index-minute-aggs.csv')))[0]).toMatchObject({
      status: 'stored',
      rows: 2,
    });
    expect((await bars('SPX')).map(({ volume }) => volume)).toEqual([0, 0]);
  });
});

describe('prices that their vendor divides', () => {
  const header = 'Date,Open,High,Low,Close,Adj Close,Volume,Dividends,Stock Splits';
  const history = (...dates: readonly string[]) =>
    write('NVDA.csv', header, ...dates.map((date) => `${date} 00:00:00-04:00,120,121,119,120,120,1000,0.0,0.0`));
  const split = () => ingest('splits', write('splits.csv', 'symbol,ex_date,ratio', 'NVDA,2024-06-10,10:1'));

  test('are refused before a split that the store knows, and the reason names it', async () => {
    await split();
    expect((await ingest('stock-day-bars', history('2024-06-06', '2024-06-07')))[0]).toMatchObject({
      status: 'refused',
      reason: expect.stringContaining('prices of NVDA before 2024-06-10 are divided by the split of that day, 10 new'),
    });
    expect(await bars('NVDA', '1d')).toEqual([]);
    expect((await ingest('stock-day-bars', history('2024-06-10', '2024-06-11')))[0]).toMatchObject({
      status: 'stored',
      notes: [],
    });
  });

  test('are stored with a note if no split is known', async () => {
    expect((await ingest('stock-day-bars', history('2024-06-06', '2024-06-07')))[0]).toMatchObject({
      status: 'stored',
      notes: [expect.stringContaining('no split of NVDA is stored: they are taken as printed')],
    });
  });
});

describe('suffixes of tickers', () => {
  test('of each tape are those of the consolidated tape', () => {
    for (const [written, ticker] of [
      ['BACpL', 'BAC.PRL'],
      ['BAC$L', 'BAC.PRL'],
      ['BACp', 'BAC.PR'],
      ['AAC+', 'AAC.WS'],
      ['AAC=', 'AAC.U'],
      ['AAC^', 'AAC.RT'],
      ['AACr', 'AAC.RT'],
      ['AAC#', 'AAC.WI'],
      ['AACw', 'AAC.WI'],
      ['BRK-B', 'BRK.B'],
      // A dash is no mark of the table: it separates a class, also where a vendor means a series of preferred shares.
      ['ABR-D', 'ABR.D'],
      ['AAC+A', null],
      ['AAC~', null],
      ['AACx', null],
    ] as const)
      expect([written, readVendorTicker(written)]).toEqual([written, ticker]);
  });

  test.each([
    ['stock-day-bars', 'ticker,volume,open,close,high,low,window_start', '100,10,10.5,11,9,1733149800000000000'],
    [
      'stock-trades',
      'ticker,conditions,exchange,id,price,sequence_number,sip_timestamp,size',
      ',11,1,10,1,1733149800000000000,100',
    ],
  ] as const)('that no table has are counted and named in %s', async (dataset, header, rest) => {
    const tickers = ['AAC+', 'AAC=', 'AAC^', 'AAC#', 'BAC$L', 'ABRpD', 'AAC+A', 'AAC~', 'AAC.WS+'];
    const [report] = await ingest(dataset, write('a.csv', header, ...tickers.map((ticker) => `${ticker},${rest}`)));
    expect(report).toMatchObject({ status: 'stored', rows: 6, badLineCount: 0 });
    expect(report!.notes).toContain(
      'not servable: 3 lines of 3 tickers with a suffix of another form: AAC+A, AAC~, AAC.WS+',
    );
    const symbols = (await allSymbols(store)).map(({ symbol }) => symbol);
    expect(symbols).toEqual(['AAC.RT', 'AAC.U', 'AAC.WI', 'AAC.WS', 'ABR.PRD', 'BAC.PRL']);
  });
});
