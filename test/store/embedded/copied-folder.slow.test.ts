import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openStore } from '../../../src/store/rows/connection.ts';
import { launcher, tapegraph } from '../../cli/command-line.ts';

let folder: string;
let data: string;
let copy: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tapegraph-copied-'));
  chmodSync(folder, 0o755);
  [data, copy] = [join(folder, '.data'), join(folder, 'copy')];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (dataDir: string) => openStore({ databaseUrl: null, dataDir, log: () => {} });
const copied = () => execFileSync('cp', ['-a', data, copy]);
const accounts = async (dataDir: string) => {
  const { stdout } = await tapegraph(['account', 'list', '--json', '--data', dataDir]);
  return JSON.parse(stdout).accounts.map(({ id }: { id: string }) => id);
};

describe.runIf(process.platform !== 'win32')('a copied data folder', { timeout: 120_000 }, () => {
  test('of a running store is refused, with how to copy, and nothing reaches the original', async () => {
    const store = await open(data);
    copied();
    const { code, stderr } = await tapegraph(['account', 'set', 'stray', '--data', copy]);
    expect(code).toBe(1);
    expect(stderr).toContain(`${copy} is a copy of ${data}, made while that one's database ran`);
    expect(stderr).toContain('"Backup" in docs/operations.md');
    expect(await accounts(data)).toEqual([]);
    await store.close();
    // It is no better once the original has stopped.
    await expect(open(copy)).rejects.toThrow('is a copy of');
    // A snapshot of a file system is.
    rmSync(join(copy, 'postgres', 'postmaster.pid'));
    await (await open(copy)).close();
    expect(existsSync(join(data, 'postgres', 'postmaster.pid'))).toBe(false);
  });

  test('that was moved with the file of a server that was killed opens where it is', async () => {
    const store = await open(data);
    const left = readFileSync(join(data, 'postgres', 'postmaster.pid'));
    await store.close();
    writeFileSync(join(data, 'postgres', 'postmaster.pid'), left);
    renameSync(data, copy);
    await (await open(copy)).close();
  });

  test('by the recipe of the documentation has the accounts, and changes of it stay in it', async () => {
    const recipe = /^```sh\n(# copy-store\.sh\n.*?)^```/ms.exec(readFileSync('docs/operations.md', 'utf8'))![1]!;
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'tapegraph'), `#!/bin/sh\nexec '${process.execPath}' '${launcher}' "$@"\n`, {
      mode: 0o755,
    });
    const env = { PATH: `${bin}:${process.env.PATH}`, HOME: process.env.HOME };
    const run = () => spawnSync('sh', ['-c', recipe], { cwd: folder, env, encoding: 'utf8' });
    await tapegraph(['account', 'set', 'desk', '--data', data]);
    const store = await open(data);
    expect(run().status).not.toBe(0);
    expect(existsSync(copy)).toBe(false);
    await store.close();
    const { status, stdout, stderr } = run();
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('desk');
    await tapegraph(['account', 'set', 'other', '--data', copy]);
    expect([await accounts(data), await accounts(copy)]).toEqual([['desk'], ['desk', 'other']]);
  });
});
