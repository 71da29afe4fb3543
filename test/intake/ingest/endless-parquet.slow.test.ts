import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ingestFiles } from '../../../src/intake/ingest/ingest.ts';
import { start } from '../../cli/command-line.ts';
import { storeForThisTest } from '../../support/store.ts';
import { endlessBars } from '../../support/tapes/parquet-bytes.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const folder = temporaryFolder();

function endlessFile(): string {
  const path = join(folder(), 'endless.parquet');
  writeFileSync(path, endlessBars());
  return path;
}

test('a file that the decoder would read for ever is refused by name, and the next one is stored', async () => {
  const store = await storeForThisTest();
  const csv = join(folder(), 'bars.csv');
  const names = 'ticker,volume,open,close,high,low,window_start,transactions';
  writeFileSync(csv, `${names}\nSPY,100,1,1,1,1,1699632000000000000,3\n`);
  const { files } = await ingestFiles(store, 'stock-minute-bars', [endlessFile(), csv], { now: Date.now });
  expect(files).toMatchObject([
    { status: 'refused', reason: expect.stringContaining('endless.parquet: decoding it takes too long') },
    { status: 'stored', rows: 1 },
  ]);
});

test('a stop ends an ingest in the middle of decoding', async () => {
  const store = await storeForThisTest();
  const stop = new AbortController();
  const ingest = ingestFiles(store, 'stock-minute-bars', [endlessFile()], { now: Date.now, signal: stop.signal });
  await delay(1000);
  stop.abort(new Error('stopped'));
  await expect(ingest).rejects.toThrow('stopped');
});

test('one SIGTERM ends the command while it decodes', async () => {
  const store = await storeForThisTest();
  const args = ['ingest', 'stock-minute-bars', endlessFile()];
  const { child, ended } = start(args, { DATABASE_URL: store.databaseUrl });
  // It decodes from its second second to its twelfth.
  await delay(5000);
  expect(child.exitCode).toBeNull();
  child.kill('SIGTERM');
  expect(await ended).toMatchObject({ code: 1, stderr: expect.stringContaining('interrupted') });
});
