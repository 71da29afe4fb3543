import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Bar, toBarColumns } from '../../../src/core/domain/market/bar.ts';
import { writeBars } from '../../../src/store/market/bar-blocks.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import type { Json } from '../../support/app.ts';
import { newYork } from '../../support/option-market.ts';
import { type TestStore, testStore } from '../../support/store.ts';
import { tapegraph } from '../command-line.ts';

const barAt = (date: string, minute: number): Bar => ({
  tsMs: newYork(date, '09:30') + minute * 60_000,
  open: 100.25,
  high: 101,
  low: 100,
  close: 100.5 + minute,
  volume: 1000,
  vwap: null,
  tradeCount: 12,
});
const bars = ['2026-11-17', '2026-11-18'].flatMap((date) => [0, 1, 2].map((minute) => barAt(date, minute)));
const pathOf = (date: string) => `dataset=stock-minute-bars/date=${date}/SPY.parquet`;

let store: TestStore;
let env: Record<string, string>;
let folder: string;
const save = (of: Bar[]) =>
  inTransaction(store, (tx) => writeBars(tx, '1m', [{ symbol: 'SPY', bars: toBarColumns(of) }]));
beforeAll(async () => {
  store = await testStore();
  env = { DATABASE_URL: store.databaseUrl };
  await save(bars);
});
afterAll(() => store.close());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'export-'));
  return () => rmSync(folder, { recursive: true });
});

const run = (...args: string[]) =>
  tapegraph(['export', 'all', '--symbol', 'SPY', '--output', folder, '--json', ...args], env);
const manifest = (): Json => JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
const rowsOf = async (path: string) =>
  parquetReadObjects({ file: Uint8Array.from(readFileSync(join(folder, path))).buffer, compressors });

describe('export all', () => {
  it('writes a file per dataset, date and symbol, and lists them with rows, bytes, checksums and columns', async () => {
    const { code, stdout } = await run();
    expect({ code, report: JSON.parse(stdout) }).toEqual({
      code: 0,
      report: { folder, written: 2, unchanged: 0, kept: [] },
    });
    const { files, datasets, version } = manifest();
    expect(files).toEqual(
      ['2026-11-17', '2026-11-18'].map((date) => {
        const bytes = readFileSync(join(folder, pathOf(date)));
        const sha256 = createHash('sha256').update(bytes).digest('hex');
        const of = { dataset: 'stock-minute-bars', date, symbol: 'SPY' };
        return { path: pathOf(date), ...of, rows: 3, bytes: bytes.length, sha256 };
      }),
    );
    expect(version).toBe(1);
    expect(datasets['stock-minute-bars']).toMatchObject({ symbol: 'text', ts_ms: 'int64', close: 'float64' });
    const rows = await rowsOf(pathOf('2026-11-18'));
    expect(rows.map(({ ts_ms, close, vwap }) => [Number(ts_ms), close, vwap])).toEqual(
      bars.slice(3).map(({ tsMs, close }) => [tsMs, close, null]),
    );
    expect(readdirSync(folder, { recursive: true }).filter((name) => /partial|lock/.test(String(name)))).toEqual([]);
  });

  it('replaces what changed and nothing else, and continues after a killed run', async () => {
    await run();
    const before = ['2026-11-17', '2026-11-18'].map((date) => statSync(join(folder, pathOf(date))).mtimeMs);
    // Files that a killed run leaves.
    writeFileSync(join(folder, '.export.lock'), '999999999');
    writeFileSync(join(folder, `${pathOf('2026-11-18')}.partial`), 'half');
    await save([...bars, barAt('2026-11-18', 3)]);
    expect(JSON.parse((await run()).stdout)).toMatchObject({ written: 1, unchanged: 1 });
    const after = ['2026-11-17', '2026-11-18'].map((date) => statSync(join(folder, pathOf(date))).mtimeMs);
    expect([after[0] === before[0], after[1] === before[1]]).toEqual([true, false]);
    expect(manifest().files.map(({ rows }: Json) => rows)).toEqual([3, 4]);
    expect(existsSync(join(folder, `${pathOf('2026-11-18')}.partial`))).toBe(false);
    // A damaged file is made again.
    writeFileSync(join(folder, pathOf('2026-11-17')), 'x');
    expect(JSON.parse((await run()).stdout)).toMatchObject({ written: 1, unchanged: 1 });
    expect(await rowsOf(pathOf('2026-11-17'))).toHaveLength(3);
  });

  it('keeps a file that has more rows than the store, and says so, unless it may have fewer', async () => {
    await run();
    const { files, ...rest } = manifest();
    // As if more had been stored then.
    const known = files.map((file: Json) => ({ ...file, rows: 10, sha256: 'a'.repeat(64) }));
    writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ ...rest, files: known }));
    const range = ['--from', '2026-11-18'];
    const kept = await run(...range);
    expect([kept.code, JSON.parse(kept.stdout).kept]).toEqual([1, [pathOf('2026-11-18')]]);
    expect(manifest().files.map(({ rows }: Json) => rows)).toEqual([10, 10]);
    expect((await run(...range, '--allow-fewer')).code).toBe(0);
    expect(manifest().files.map(({ rows }: Json) => rows)).toEqual([10, manifest().files[1].rows]);
    expect(manifest().files[1].rows).toBeLessThan(10);
  });

  it('refuses a folder that another process exports to, and a manifest that is none', async () => {
    writeFileSync(join(folder, '.export.lock'), String(process.pid));
    expect(await run()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`process ${process.pid} exports to`),
    });
    rmSync(join(folder, '.export.lock'));
    writeFileSync(join(folder, 'manifest.json'), '{"files":[]}');
    expect(await run()).toMatchObject({ code: 1, stderr: expect.stringContaining('is not a manifest') });
  });

  it.each([
    [['export', 'all'], '--output'],
    [['export', 'all', '--output', 'x', '--format', 'csv'], 'expected parquet'],
    [['export', 'all', '--output', 'x', '--timeframe', '1m'], '--timeframe'],
    [['export', 'symbols', '--allow-fewer'], '--allow-fewer'],
  ])('%s leaves with 2 and names %s', async (args, expected) => {
    const { code, stderr } = await tapegraph(args, env);
    expect(code).toBe(2);
    expect(stderr).toContain(expected);
  });
});
