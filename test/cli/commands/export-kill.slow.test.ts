import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { expect, it, vi } from 'vitest';
import { type Bar, toBarColumns } from '../../../src/core/domain/market/bar.ts';
import { writeBars } from '../../../src/store/market/bar-blocks.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import type { Json } from '../../support/app.ts';
import { newYork } from '../../support/option-market.ts';
import { storeForThisTest } from '../../support/store.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { start, tapegraph } from '../command-line.ts';

const folder = temporaryFolder();
const days = Array.from({ length: 28 }, (_, day) => `2026-02-${String(day + 1).padStart(2, '0')}`);
const bars: Bar[] = days.flatMap((date) =>
  Array.from({ length: 390 }, (_, minute) => ({
    tsMs: newYork(date, '09:30') + minute * 60_000,
    open: 100.25,
    high: 101,
    low: 100,
    close: 100.5,
    volume: 1000 + minute,
    vwap: null,
    tradeCount: 12,
  })),
);

const namesIn = (ending: string) =>
  readdirSync(folder(), { recursive: true })
    .map(String)
    .filter((name) => name.endsWith(ending));

async function rowsOf(name: string): Promise<number> {
  const file = Uint8Array.from(readFileSync(join(folder(), name))).buffer;
  return (await parquetReadObjects({ file, compressors })).length;
}

it('a killed export of all leaves whole files, and the next run completes them and their manifest', async () => {
  const store = await storeForThisTest();
  await inTransaction(store, (tx) => writeBars(tx, '1m', [{ symbol: 'SPY', bars: toBarColumns(bars) }]));
  const args = ['export', 'all', '--symbol', 'SPY', '--output', folder(), '--json'];
  const env = { DATABASE_URL: store.databaseUrl };
  const { child, ended } = start(args, env);
  await vi.waitUntil(() => namesIn('.parquet').length > 2, { timeout: 30_000, interval: 1 });
  child.kill('SIGKILL');
  await ended;
  const left = namesIn('.parquet');
  expect(left.length).toBeLessThan(days.length);
  expect(existsSync(join(folder(), 'manifest.json'))).toBe(false);
  for (const name of left) expect(await rowsOf(name), name).toBe(390);

  const { code, stdout } = await tapegraph(args, env);
  expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 0, written: days.length, kept: [] });
  const { files } = JSON.parse(readFileSync(join(folder(), 'manifest.json'), 'utf8'));
  expect(files.map(({ path }: Json) => path).sort()).toEqual(namesIn('.parquet').sort());
  for (const { path, rows, sha256 } of files) {
    expect(
      createHash('sha256')
        .update(readFileSync(join(folder(), path)))
        .digest('hex'),
      path,
    ).toBe(sha256);
    expect(rows).toBe(390);
  }
  expect([...namesIn('.partial'), ...namesIn('.export.lock')]).toEqual([]);
});
