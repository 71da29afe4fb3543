// Ids identify prints only where they tell them apart; else time, venue, price, size, conditions, and number in a file.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { type IngestOptions, ingestFiles } from '../../../src/intake/ingest/ingest.ts';
import { reconcileStocks } from '../../../src/intake/ingest/reconcile-stocks.ts';
import { hasSharedData, sharedData } from '../../support/shared-data.ts';
import { storeForThisTest, type TestStore } from '../../support/store.ts';
import { contentsOf } from '../../support/store-contents.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const date = '2026-11-16';
const now = () => exchangeInstant('2026-11-18', 720);
const header = 'ticker,conditions,correction,exchange,id,price,sequence_number,sip_timestamp,size,tape,trf_id';
const folder = temporaryFolder();
let files = 0;

interface Trade {
  /** Seconds after 10:00. */
  at: number;
  price?: number;
  size?: number;
  id?: number | string;
  exchange?: number;
  correction?: number;
  symbol?: string;
}

const lineOf = ({ at, price = 100, size = 100, id = 0, exchange = 11, correction = 0, symbol = 'SPY' }: Trade) =>
  `${symbol},,${correction},${exchange},${id},${price},${id},${exchangeInstant(date, 600) + at * 1000}000000,${size},2,`;

function file(lines: readonly Trade[]): string {
  const path = join(folder(), `${++files}.csv`);
  writeFileSync(path, [header, ...lines.map(lineOf)].join('\n'));
  return path;
}

/** A print every second, all of id 0. */
const feed = (from: number, to: number): Trade[] =>
  Array.from({ length: to - from }, (_, i) => ({ at: from + i, price: 100 + ((from + i) % 7) / 100 }));

const ingest = async (store: TestStore, paths: readonly string[], options: Partial<IngestOptions> = {}) =>
  (await ingestFiles(store, 'stock-trades', paths, { now, ...options })).files;

async function stored(store: TestStore, symbol = 'SPY') {
  const { rows } = await store.pool.query('SELECT prints FROM tape_sessions WHERE symbol = $1', [symbol]);
  return rows[0]?.prints ?? 0;
}
/** Everything stored but the files' names, and the off-exchange figures' time. */
const contents = (store: TestStore) => contentsOf(store, { tables: ['ingested_files'] });
const barsOf = async (store: TestStore) => (await contents(store)).bar_blocks;

describe('prints of a feed whose ids are all equal', () => {
  test('are all stored, and the note says how they are identified', async () => {
    const store = await storeForThisTest();
    const [report] = await ingest(store, [file(feed(0, 600))]);
    expect(report).toMatchObject({ status: 'stored', rows: 600, sessions: [{ after: 600 }] });
    expect(report!.notes).toEqual([
      '600 prints of SPY are identified by time, exchange, price, size and conditions: their ids repeat',
    ]);
    expect(await stored(store)).toBe(600);
  });

  test('are the same in two files that overlap, in either order; the copies are counted', async () => {
    const [one, whole] = [await storeForThisTest(), await storeForThisTest()];
    const parts = [file(feed(0, 400)), file(feed(300, 600))];
    const reports = await ingest(one, parts.toReversed());
    expect(reports.flatMap(({ notes }) => notes)).toContain('100 prints of one file are in another too and count once');
    await ingest(whole, [file(feed(0, 600))]);
    expect(await contents(one)).toEqual(await contents(whole));
  });

  test('count as often as the file with more of them says, within one file always', async () => {
    const store = await storeForThisTest();
    const equal = (count: number): Trade[] => Array.from({ length: count }, () => ({ at: 50 }));
    await ingest(store, [file([...feed(0, 50), ...equal(3), ...feed(60, 90)]), file([...feed(10, 50), ...equal(2)])]);
    expect(await stored(store)).toBe(50 + 3 + 30);
  });

  test('of a file cut between equal prints are all stored', async () => {
    const store = await storeForThisTest();
    const equal = (count: number): Trade[] => Array.from({ length: count }, () => ({ at: 50 }));
    await ingest(store, [file([...equal(3), ...feed(51, 90)]), file([...feed(0, 50), ...equal(2)])]);
    expect(await stored(store)).toBe(50 + 5 + 39);
  });

  test('of another half do not replace the stored half', async () => {
    const store = await storeForThisTest();
    await ingest(store, [file(feed(0, 100))]);
    const [report] = await ingest(store, [file(feed(100, 200))]);
    expect(report).toMatchObject({ status: 'refused', left: [{ reason: 'fewer', count: 100, missing: 100 }] });
    await ingest(store, [file(feed(0, 1))], { replace: true });
    const [single] = await ingest(store, [file([{ at: 500 }])]);
    expect(single!.left).toMatchObject([{ missing: 1 }]);
  });

  test('are reconciled as they are ingested', async () => {
    const [one, other] = [await storeForThisTest(), await storeForThisTest()];
    const path = file(feed(0, 600));
    await ingest(one, [path]);
    const report = await reconcileStocks(other, [path], { session: date, maxErrors: 0, now });
    expect(report).toMatchObject({ status: 'reconciled', change: { after: 600 } });
    expect(await contents(other)).toEqual(await contents(one));
  });

  test('are corrected by price and size: a cancel, a withdrawn trade and a corrected one', async () => {
    const [one, plain] = [await storeForThisTest(), await storeForThisTest()];
    const prints = feed(0, 100);
    await ingest(one, [
      file([
        ...prints,
        { at: 20, price: 105, size: 700 },
        { at: 200, price: 105, size: 700, correction: 10 },
        { at: 30, price: 106, size: 800 },
        { at: 30, price: 106, size: 800, correction: 8 },
        { at: 40, price: 102, size: 300, correction: 1 },
        { at: 60, price: 109, size: 300 },
        { at: 210, price: 109, size: 300, correction: 12 },
      ]),
    ]);
    await ingest(plain, [file([...prints, { at: 40, price: 102, size: 300 }, { at: 60, price: 109, size: 300 }])]);
    expect(await barsOf(one)).toEqual(await barsOf(plain));
  });

  test('leave the ids of another exchange and symbol as they are', async () => {
    const store = await storeForThisTest();
    const others = feed(0, 50).map((print, i) => ({ ...print, id: i + 1, exchange: 12 }));
    const [report] = await ingest(store, [file([...feed(0, 50), ...others, ...others])]);
    expect(report!.notes).toContain('50 duplicate prints count once');
    expect(await stored(store)).toBe(100);
  });
});

test('ids that repeat late in a file leave no print out, and repeats before are prints', async () => {
  const store = await storeForThisTest();
  const named = feed(0, 200).map((print, i) => ({ ...print, id: i + 1 }));
  // The second record of id 5 repeats the first until id 1 is given again to another print.
  await ingest(store, [file([...named, named[4]!, ...feed(300, 310).map((print, i) => ({ ...print, id: i + 1 }))])]);
  expect(await stored(store)).toBe(211);
});

test('files that number the same prints differently have them once', async () => {
  const [one, whole] = [await storeForThisTest(), await storeForThisTest()];
  const numbered = (prints: readonly Trade[]) => file(prints.map((print, i) => ({ ...print, id: i + 1 })));
  await ingest(one, [numbered(feed(0, 400)), numbered(feed(300, 600))]);
  await ingest(whole, [numbered(feed(0, 600))]);
  expect(await stored(one)).toBe(600);
  expect(await contents(one)).toEqual(await contents(whole));
});

test.skipIf(!hasSharedData)('a DBN file without sequences has its 60 prints and 6,000 shares', async () => {
  const store = await storeForThisTest();
  const path = sharedData('ingest_inputs/dbn-equs-mini-trades.dbn');
  expect(readFileSync(path).length).toBeGreaterThan(0);
  const { files } = await ingestFiles(store, 'stock-trades', [path], { now: Date.now });
  expect(files[0]).toMatchObject({ status: 'stored', rows: 60, sessions: [{ after: 60 }] });
  expect(files[0]!.notes.join()).not.toMatch(/correction|duplicate/);
});
