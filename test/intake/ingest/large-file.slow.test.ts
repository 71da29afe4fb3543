import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { ingestFiles } from '../../../src/intake/ingest/ingest.ts';
import { storeForThisTest, type TestStore } from '../../support/store.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const now = () => 1_800_000_000_000;
const folder = temporaryFolder();
const main = join(import.meta.dirname, '../../../src/main.ts');
const minutes = 390;
const tickers = 1000;
let file: string;

/** A made-up session of a thousand tickers: 390,000 lines, 27 MB. */
beforeAll(() => {
  file = join(folder(), 'session.csv');
  const out = openSync(file, 'w');
  writeSync(out, 'ticker,volume,open,close,high,low,window_start,transactions\n');
  for (let ticker = 0; ticker < tickers; ticker++) {
    const name = `Q${ticker.toString(26).toUpperCase().padStart(3, 'Z')}`;
    let lines = '';
    for (let minute = 0; minute < minutes; minute++) {
      const price = (5000 + ((ticker * 37 + minute * 11) % 900)) / 100;
      const start = 1_709_908_200_000 + minute * 60_000;
      lines += `${name},${100 + minute},${price},${price + 0.01},${price + 0.03},${price - 0.02},${start}000000,${minute}\n`;
    }
    writeSync(out, lines);
  }
  closeSync(out);
});

function ingest(store: TestStore, ...nodeOptions: string[]) {
  const parameters = [...nodeOptions, main, 'ingest', 'stock-minute-bars', file, '--json'];
  return spawn(process.execPath, parameters, { env: { ...process.env, DATABASE_URL: store.databaseUrl } });
}

const count = async (store: TestStore, what: string): Promise<number> =>
  Number((await store.pool.query(`SELECT count(*) AS n FROM ${what}`)).rows[0].n);

// Its lines as strings alone would take 40 MB, its bars as objects 80.
test('a file larger than the heap is stored: memory does not grow with it', async () => {
  const store = await storeForThisTest();
  const child = ingest(store, '--max-old-space-size=64');
  const output: Buffer[] = [];
  child.stdout.on('data', (part) => output.push(part));
  child.stderr.on('data', (part) => output.push(part));
  const [code] = await once(child, 'exit');
  expect(Buffer.concat(output).toString()).toContain(`"rows":${minutes * tickers}`);
  expect(code).toBe(0);
  expect(await count(store, `bar_blocks WHERE timeframe = '1m'`)).toBe(tickers);
});

test('an ingest that is killed in the middle leaves nothing of its file, and the next one stores it', async () => {
  const store = await storeForThisTest();
  const child = ingest(store);
  // It writes once it waits for nothing and holds the lock of all bars.
  const writing = `pg_stat_activity WHERE datname = current_database() AND query LIKE 'INSERT INTO bar_blocks%'`;
  for (let tries = 0; tries < 2000 && (await count(store, writing)) === 0; tries++) await pause(10);
  child.kill('SIGKILL');
  await once(child, 'exit');
  for (const table of [
    'bar_blocks',
    `ingested_files WHERE dataset <> 'symbols'`,
    `symbols WHERE symbol LIKE 'Q%' AND NOT registered`,
  ]) {
    expect(await count(store, table), table).toBe(0);
  }
  const { files } = await ingestFiles(store, 'stock-minute-bars', [file], { now });
  expect(files[0]).toMatchObject({ status: 'stored', rows: minutes * tickers });
});

test('two ingests of one file at once: one stores it, the other changes nothing', async () => {
  const store = await storeForThisTest();
  const both = await Promise.all([1, 2].map(() => ingestFiles(store, 'stock-minute-bars', [file], { now })));
  expect(both.map(({ files }) => files[0]!.status).sort()).toEqual(['stored', 'unchanged']);
  expect(await count(store, `bar_blocks WHERE timeframe = '1m'`)).toBe(tickers);
});
