import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { datasetNames } from '../../../src/core/domain/dataset.ts';
import { waitingForLocks } from '../../support/locks.ts';
import { credentials, objectStore } from '../../support/servers/object-store.ts';
import { type TestStore, testStore } from '../../support/store.ts';
import { start, tapegraph, tapegraphProcess } from '../command-line.ts';

const header = 'ticker,volume,open,close,high,low,window_start,transactions';
const minute = '2019-02-13T14:30:00Z';
const good = `SPY,100,10,11,12,9,${BigInt(Date.parse(minute)) * 1_000_000n},5`;

let store: TestStore;
let folder: string;
let env: Record<string, string>;
beforeAll(async () => {
  store = await testStore();
  folder = mkdtempSync(join(tmpdir(), 'ingest files '));
  env = { DATABASE_URL: store.databaseUrl };
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await store.close();
});

function file(name: string, ...lines: string[]): string {
  const path = join(folder, name);
  writeFileSync(path, `${[header, ...lines].join('\n')}\n`);
  return path;
}

describe('tapegraph ingest', () => {
  it('reads the objects of a bucket with the AWS_* variables, and shows none of them', async () => {
    const objects = await objectStore();
    onTestFinished(() => objects.close());
    objects.objects.set('day/a.csv', Buffer.from(`${header}\n${good.replace('SPY', 'KRE')}\n`));
    objects.objects.set('day/b.csv', Buffer.from(`${header}\n${good.replace('SPY', 'dia')}\n`));
    const ran = await tapegraphProcess(['ingest', 'stock-minute-bars', 's3://lake/day/*.csv'], {
      ...env,
      ...objects.env,
    });
    expect(ran).toMatchObject({ code: 1, stderr: '' });
    expect(ran.stdout).toMatch(
      /stored {5}s3:\/\/lake\/day\/a\.csv {2}1 rows.*\n {11}2019-02-13: 0 → 1 bar of 1 symbol\nrefused {4}s3:\/\/lake\/day\/b\.csv/,
    );
    expect(ran.stdout).toMatch(/\n {11}b\.csv:2 {2}ticker: /);
    for (const secret of Object.values(credentials)) expect(ran.stdout).not.toContain(secret);
  });

  it('stores the chains of --symbols alone from a file of all underlyings, in a bucket too', async () => {
    const objects = await objectStore();
    onTestFinished(() => objects.close());
    const names =
      'ticker,tradeDate,expirDate,strike,stockPrice,callBidPrice,callAskPrice,putBidPrice,putAskPrice,quoteDate';
    const rows = ['KO', 'PEP', 'SPY'].map(
      (ticker) => `${ticker},2019-02-13,2019-03-15,50,50,1,1.1,0.9,1,2019-02-13T15:00:00-05:00`,
    );
    objects.objects.set('day/strikes.csv', Buffer.from([names, ...rows].join('\n')));
    const args = ['ingest', 'chain', 's3://lake/day/strikes.csv', '--symbols', 'KO,SPY'];
    const ran = await tapegraphProcess(args, { ...env, ...objects.env });
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(ran.stdout).toMatch(
      /^stored {5}s3:\/\/lake\/day\/strikes\.csv {2}4 rows.*\n {11}note: 2 of 3 underlyings: KO, SPY\n/,
    );
    const { rows: stored } = await store.pool.query('SELECT underlying FROM chain_captures ORDER BY underlying');
    expect(stored.map(({ underlying }) => underlying)).toEqual(['KO', 'SPY']);
    const other = await tapegraphProcess(['ingest', 'rates', 'rates.csv', '--symbols', 'KO'], env);
    expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('--symbols requires the dataset chain') });
  });

  it('stores files by pattern, and says that a second run changed nothing', async () => {
    file('a1.csv', good);
    file('a2.csv', good.replace('SPY', 'QQQ'));
    const args = ['ingest', 'stock-minute-bars', join(folder, 'a*.csv')];
    const first = await tapegraphProcess(args, env);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toMatch(
      /stored {5}.*a1\.csv {2}1 rows.*\n {11}2019-02-13: 0 → 1 bar of 1 symbol\nstored {5}.*a2\.csv.*\n {11}2019-02-13: 0 → 1 bar of 1 symbol\n2 stored, 0 unchanged, 0 refused\n$/,
    );
    const second = await tapegraph([...args, '--json'], env);
    expect(JSON.parse(second.stdout)).toMatchObject({
      dataset: 'stock-minute-bars',
      stored: 0,
      unchanged: 2,
      refused: 0,
    });
    const exported = await tapegraph(['export', 'stock-bars', '--symbol', 'QQQ'], env);
    expect(exported.stdout).toContain(`QQQ,1m,${Date.parse(minute)},10,12,9,11,100,,5`);
  });

  it('leaves with 1 when a file is refused, naming file, line and reason, and stores the others', async () => {
    const bad = file('bad.csv', good.replace('SPY,100', 'IWM,lots'), good.replace('SPY', 'IWM'));
    const fine = file('fine.csv', good.replace('SPY', 'DIA'));
    const { code, stdout, stderr } = await tapegraph(['ingest', 'stock-minute-bars', bad, fine], env);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(stdout).toMatch(/refused .*bad\.csv.*\n +bad\.csv:2 {2}volume.*\nstored .*fine\.csv/);
    expect((await tapegraph(['export', 'stock-bars', '--symbol', 'IWM'], env)).stdout).not.toContain('IWM');
  });

  it('passes over as many bad lines as --max-errors allows', async () => {
    const bad = file('one-bad.csv', good.replace('SPY,100', 'EEM,lots'), good.replace('SPY', 'EEM'));
    const { code, stdout } = await tapegraph(['ingest', 'stock-minute-bars', bad, '--max-errors', '1', '--json'], env);
    expect(code).toBe(0);
    expect(JSON.parse(stdout).files).toEqual([
      expect.objectContaining({
        status: 'stored',
        rows: 1,
        bad_line_count: 1,
        bad_lines: [expect.objectContaining({ line: 2 })],
      }),
    ]);
  });

  it('leaves with 1 for a file that is not there', async () => {
    const { code, stderr } = await tapegraph(['ingest', 'stock-minute-bars', join(folder, 'missing.csv')], env);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^tapegraph: .*missing\.csv: no such file\n$/);
  });

  it.each([
    ['an unknown dataset', ['ingest', 'stock-minute-brs', 'x.csv'], datasetNames[0]],
    ['no file', ['ingest', 'stock-minute-bars'], 'file'],
    ['a number that is none', ['ingest', 'stock-minute-bars', 'x.csv', '--max-errors', 'few'], 'whole number'],
    ['an unknown gamma source', ['ingest', 'stock-minute-bars', 'x.csv', '--gamma-source', 'guess'], 'solve, vendor'],
  ])('leaves with 2 for %s and says what was expected', async (_, args, expected) => {
    const { code, stdout, stderr } = await tapegraph(args, env);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(expected);
  });

  it('stores nothing of a file when it is interrupted, and leaves with 1', async () => {
    const path = file('interrupted.csv', good.replace('SPY', 'TLT'));
    const client = await store.pool.connect();
    try {
      // Somebody else's lock holds the command where the file is half stored.
      await client.query('begin; lock table ingested_files in access exclusive mode');
      const { child, ended } = start(['ingest', 'stock-minute-bars', path], env);
      while ((await waitingForLocks(client, 'ingested_files')) === 0) await setTimeout(20);
      child.kill('SIGINT');
      await setTimeout(100);
      await client.query('commit');
      expect(await ended).toEqual({ code: 1, stdout: '', stderr: 'tapegraph: interrupted\n' });
    } finally {
      client.release();
    }
    expect((await tapegraph(['export', 'stock-bars', '--symbol', 'TLT'], env)).stdout).not.toContain('TLT');
  });
});
