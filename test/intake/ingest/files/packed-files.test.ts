import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { type BasicType, parquetWriteBuffer } from 'hyparquet-writer';
import { expect, test } from 'vitest';
import { ingestFiles } from '../../../../src/intake/ingest/ingest.ts';
import { storeForThisTest, type TestStore } from '../../../support/store.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folder = temporaryFolder();
const now = () => 1_800_000_000_000;
const startNs = BigInt(Date.parse('2023-11-10T15:00:00Z')) * 1_000_000n;

const rows = Array.from({ length: 900 }, (_, i) => ({
  ticker: ['AAPL', 'SPY', 'BACpL'][Math.floor(i / 300)]!,
  volume: BigInt(100 + i),
  open: 10.1 + (i % 7) / 100,
  close: 10.2,
  high: 10.5,
  low: 9.99,
  window_start: startNs + BigInt(i % 300) * 60_000_000_000n,
  transactions: i % 5 === 0 ? null : i,
}));
type Row = (typeof rows)[number];
const names = Object.keys(rows[0]!) as (keyof Row)[];
const csv = `${names.join(',')}\n${rows.map((row) => names.map((name) => row[name] ?? '').join(',')).join('\n')}\n`;

function parquet(list: readonly Row[]): Uint8Array {
  const types: Partial<Record<keyof Row, BasicType>> = {
    ticker: 'STRING',
    volume: 'INT64',
    window_start: 'INT64',
    transactions: 'INT32',
  };
  const columnData = names.map((name) => ({
    name,
    data: list.map((row) => row[name]),
    nullable: true,
    type: types[name] ?? 'DOUBLE',
  }));
  return new Uint8Array(parquetWriteBuffer({ columnData, rowGroupSize: 250 }));
}

function write(name: string, bytes: Uint8Array | string): string {
  const path = join(folder(), name);
  writeFileSync(path, bytes);
  return path;
}

/** Hash of every block of bars in the store. */
async function contentHash(store: TestStore): Promise<string> {
  const blocks = await store.prisma.barBlock.findMany({
    orderBy: [{ symbol: 'asc' }, { timeframe: 'asc' }, { spanStart: 'asc' }],
  });
  const hash = createHash('sha256');
  for (const { symbol, timeframe, spanStart, count, payload } of blocks)
    hash.update(`${symbol} ${timeframe} ${spanStart} ${count}\n`).update(payload);
  expect(blocks.length).toBeGreaterThan(5);
  return hash.digest('hex');
}

test('CSV, Zstandard and Parquet of the same rows give the same store', async () => {
  const hashes: string[] = [];
  for (const path of [
    write('bars.csv', csv),
    // Two frames, as `cat` and parallel compressors write them.
    write('bars.csv.zst', Buffer.concat([zstdCompressSync(csv.slice(0, 9999)), zstdCompressSync(csv.slice(9999))])),
    write('bars.parquet', parquet(rows)),
  ]) {
    const store = await storeForThisTest();
    const { files } = await ingestFiles(store, 'stock-minute-bars', [path], { now });
    expect(files).toMatchObject([{ status: 'stored', rows: 900, badLines: [] }]);
    hashes.push(await contentHash(store));
  }
  expect(new Set(hashes).size).toBe(1);
});

test('a Parquet file seen before is unchanged, and a bad row is named by its line', async () => {
  const store = await storeForThisTest();
  const path = write('seen.parquet', parquet(rows));
  const bad = write('bad.parquet', parquet(rows.map((row, i) => (i === 600 ? { ...row, open: -1 } : row))));
  const { files } = await ingestFiles(store, 'stock-minute-bars', [path, bad], { now });
  expect(files[1]).toMatchObject({ status: 'refused', badLines: [{ file: bad, line: 602 }] });
  expect(files[1]!.badLines[0]!.reason).toBe('open: expected a price above 0, got "-1"');
  const again = await ingestFiles(store, 'stock-minute-bars', [path], { now });
  expect(again.files[0]!.status).toBe('unchanged');
});

test('a column that is missing or cannot be read is named', async () => {
  const store = await storeForThisTest();
  const buffer = parquetWriteBuffer({ columnData: [{ name: 'ticker', data: ['SPY'] }] });
  const { files } = await ingestFiles(store, 'stock-day-bars', [write('few.parquet', new Uint8Array(buffer))], { now });
  expect(files[0]!.reason).toContain('few.parquet: line 1: the header has no column volume, open');
});

test('a cut or damaged Zstandard file is refused, also after its first frame', async () => {
  const store = await storeForThisTest();
  const frame = zstdCompressSync(csv);
  const paths = [
    write('cut.zst', frame.subarray(0, frame.length - 9)),
    write('second-cut.zst', Buffer.concat([frame, frame.subarray(0, 50)])),
    write('junk.zst', Buffer.concat([frame, Buffer.from('junk after it')])),
  ];
  const { files } = await ingestFiles(store, 'stock-minute-bars', paths, { now });
  expect(files.map(({ reason }) => reason)).toEqual([
    'cut.zst: the zstd data is truncated: the file is incomplete',
    'second-cut.zst: the zstd data is truncated: the file is incomplete',
    'junk.zst: the zstd data is damaged (Unknown frame descriptor)',
  ]);
});
