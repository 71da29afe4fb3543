import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openStore, type Store } from '../../../src/store/rows/connection.ts';
import { notRun } from '../../support/not-run.ts';
import { storeProcess } from '../../support/servers/store-process.ts';

const onUnix = process.platform !== 'win32';
const asRoot = process.getuid?.() === 0;
// An ordinary user that every system has: initdb wants its user to have a name.
const daemon = { uid: 1, gid: 1 };
// Root's clone may lie where an ordinary user cannot even start node.
const daemonCanEnter =
  asRoot &&
  spawnSync(process.execPath, ['-e', 'fs.accessSync(process.argv[1])', import.meta.filename], { ...daemon, cwd: '/' })
    .status === 0;
if (asRoot && !daemonCanEnter) notRun('an embedded server of an ordinary user', 'that user cannot enter this clone');

let ready: string;
let folder: string;

const newFolder = () => {
  const made = mkdtempSync(join(tmpdir(), 'tapegraph-embedded-'));
  chmodSync(made, 0o755);
  return made;
};

// A store made once and copied, where the making is not what is tried.
beforeAll(async () => {
  ready = newFolder();
  await (await open(ready)).close();
  rmSync(join(ready, 'socket'), { recursive: true });
});
afterAll(() => rmSync(ready, { recursive: true, force: true }));
const withStore = () => {
  // cp keeps the owner.
  if (onUnix) execFileSync('cp', ['-a', join(ready, 'postgres'), folder]);
  else cpSync(ready, folder, { recursive: true });
};

beforeEach(() => {
  folder = newFolder();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (dataDir: string, log: (line: string) => void = () => {}) =>
  openStore({ databaseUrl: null, dataDir, log });
const postmasterFile = (dataDir: string) => join(dataDir, 'postgres', 'postmaster.pid');
const pidOf = (dataDir: string) => Number(readFileSync(postmasterFile(dataDir), 'utf8').split('\n')[0]);
const isStopped = (dataDir: string) => !existsSync(postmasterFile(dataDir));
const visits = async (store: Store) =>
  (await store.pool.query("select count(*) as n from store_facts where key like 'visit%'")).rows[0].n;

describe('the embedded server', { timeout: 120_000 }, () => {
  test('starts on a new folder, in a path with spaces and quotes, and is stopped at the end', async () => {
    const dataDir = join(folder, 'a path, with "spaces" and ümlauts');
    const store = await open(dataDir);
    const { rows } = await store.pool.query(
      "select current_setting('server_version_num')::int as version, current_setting('fsync') as fsync",
    );
    expect(rows[0].version).toBeGreaterThan(180_000);
    expect(rows[0].fsync).toBe('on');
    expect(isStopped(dataDir)).toBe(false);
    await store.close();
    expect(isStopped(dataDir)).toBe(true);
  });

  test.runIf(onUnix)('listens on no TCP port, and its socket is for its user alone', async () => {
    withStore();
    const store = await open(folder);
    const { rows } = await store.pool.query(
      "select current_setting('listen_addresses') as tcp, current_setting('unix_socket_directories') as socket",
    );
    expect(rows[0].tcp).toBe('');
    expect(statSync(join(folder, 'socket')).mode & 0o777).toBe(0o700);
    await store.close();
  });

  test.runIf(onUnix)('keeps its socket path short where the data folder is deep', async () => {
    const deep = join(folder, 'd'.repeat(60), 'e'.repeat(60));
    const store = await open(deep);
    const socket = String(store.pool.options.host);
    expect(Buffer.byteLength(`${socket}/.s.PGSQL.5432`)).toBeLessThanOrEqual(100);
    expect(statSync(socket).mode & 0o777).toBe(0o700);
    const second = storeProcess(deep, 'visit');
    await second.until('closed');
    expect(await visits(store)).toBe(1);
    await store.close();
    rmSync(socket, { recursive: true, force: true });
  });

  test('is joined by a second process, and outlives the one that started it', async () => {
    withStore();
    const first = storeProcess(folder, 'stay');
    await first.until('open');
    const pid = pidOf(folder);
    const store = await open(folder);
    first.child.stdin!.end();
    await first.until('closed');
    expect(pidOf(folder)).toBe(pid);
    await store.prisma.metadataEntry.create({ data: { key: 'after the starter', value: 'kept' } });
    await store.close();
    expect(isStopped(folder)).toBe(true);
    const again = await open(folder);
    expect(await again.prisma.metadataEntry.count({ where: { key: 'after the starter' } })).toBe(1);
    await again.close();
  });

  test('outlives a starter that is killed, and is stopped by the one who joined', async () => {
    withStore();
    const first = storeProcess(folder, 'stay');
    await first.until('open');
    const store = await open(folder);
    first.child.kill('SIGKILL');
    await first.end();
    await store.prisma.metadataEntry.create({ data: { key: 'a', value: 'kept' } });
    await store.close();
    expect(isStopped(folder)).toBe(true);
  });

  test('left over by a crash, is joined by the next', async () => {
    withStore();
    const first = storeProcess(folder, 'stay');
    await first.until('open');
    const pid = pidOf(folder);
    first.child.kill('SIGKILL');
    await first.end();
    const store = await open(folder);
    expect(pidOf(folder)).toBe(pid);
    await store.close();
    expect(isStopped(folder)).toBe(true);
  });

  test('is started once by many processes at the same moment on a new folder', async () => {
    const processes = Array.from({ length: 5 }, () => storeProcess(folder, 'visit'));
    for (const each of processes) await each.until('closed');
    const migrations = readdirSync(new URL('../../../prisma/migrations', import.meta.url)).filter((name) =>
      /^\d/.test(name),
    );
    expect(processes.flatMap(({ lines }) => lines.filter((line) => line.includes('migration')))).toEqual([
      `log Created the database (${migrations.length} migrations).`,
    ]);
    expect(isStopped(folder)).toBe(true);
    const store = await open(folder);
    expect(await visits(store)).toBe(5);
    await store.close();
    expect(readdirSync(folder).filter((name) => name.includes('.new-'))).toEqual([]);
  });

  test.runIf(onUnix)('that does not answer is waited for until the opening is stopped, and no longer', async () => {
    const user = storeProcess(folder, 'stay');
    await user.until('open');
    const pid = pidOf(folder);
    process.kill(pid, 'SIGSTOP');
    const stop = new AbortController();
    const opening = openStore({ databaseUrl: null, dataDir: folder, stop: stop.signal });
    stop.abort(new Error('no longer wanted'));
    await expect(opening).rejects.toThrow('no longer wanted');
    process.kill(pid, 'SIGCONT');
    user.child.stdin!.end();
    await user.until('closed');
    expect(isStopped(folder)).toBe(true);
  });

  test.runIf(onUnix)('that this process is starting ends when the opening is stopped', async () => {
    withStore();
    const stop = new AbortController();
    const opening = openStore({ databaseUrl: null, dataDir: folder, stop: stop.signal });
    // It is started in the same iteration of the event loop.
    setImmediate(() => stop.abort(new Error('no longer wanted')));
    await expect(opening).rejects.toThrow('no longer wanted');
    expect(isStopped(folder)).toBe(true);
  });

  test.runIf(onUnix)('that may not read its files fails at once and names the setting', async () => {
    withStore();
    const control = join(folder, 'postgres', 'global', 'pg_control');
    if (asRoot) chownSync(control, 0, 0);
    chmodSync(control, 0o000);
    await expect(open(folder)).rejects.toThrow(/^TAPEGRAPH_DATA: the folder .* cannot be used: .*Permission denied/s);
    expect(readFileSync(join(folder, 'postgres.log'), 'utf8').match(/Permission denied/g)).toHaveLength(1);
  });

  test('is never stopped under a process that joins while the last one leaves', async () => {
    withStore();
    let store = await open(folder);
    for (let i = 0; i < 6; i++) {
      const [next] = await Promise.all([open(folder), store.close()]);
      await next.prisma.metadataEntry.create({ data: { key: `turn ${i}`, value: '' } });
      store = next;
    }
    expect(await store.prisma.metadataEntry.count()).toBe(6);
    await store.close();
    expect(isStopped(folder)).toBe(true);
  });

  test.runIf(onUnix)('comes back by itself when it is killed under a running process', async () => {
    withStore();
    const said: string[] = [];
    const store = await open(folder, (line) => said.push(line));
    await store.prisma.metadataEntry.create({ data: { key: 'a', value: 'before' } });
    process.kill(pidOf(folder), 'SIGKILL');
    await expect.poll(() => said.join(), { timeout: 10_000 }).toContain('restarting it');
    await expect.poll(() => store.prisma.metadataEntry.count().catch(() => null), { timeout: 20_000 }).toBe(1);
    await store.close();
    expect(isStopped(folder)).toBe(true);
  });

  test.runIf(onUnix)('is not left running when it is closed while it comes back', async () => {
    withStore();
    const said: string[] = [];
    const store = await open(folder, (line) => said.push(line));
    const killed = pidOf(folder);
    process.kill(killed, 'SIGKILL');
    const postmaster = () => (existsSync(postmasterFile(folder)) ? pidOf(folder) : killed);
    // Its successor has been started, and is not joined yet.
    await expect.poll(postmaster, { timeout: 20_000, interval: 5 }).not.toBe(killed);
    await store.close();
    expect(isStopped(folder)).toBe(true);
  });

  test.runIf(onUnix)('starts although postmaster.pid names a stranger', async () => {
    withStore();
    const store = await open(folder);
    const text = readFileSync(postmasterFile(folder), 'utf8');
    const { uid, gid } = statSync(postmasterFile(folder));
    await store.close();
    // The same user, or PostgreSQL would see by itself that it is none of its own.
    const stranger = spawn('/bin/sleep', ['60'], asRoot ? { uid, gid } : {});
    writeFileSync(postmasterFile(folder), text.replace(/^\d+/, String(stranger.pid)), { mode: 0o600 });
    if (asRoot) chownSync(postmasterFile(folder), uid, gid);
    const again = await open(folder);
    await again.close();
    stranger.kill();
  });

  test.runIf(asRoot)('does not run as root', async () => {
    withStore();
    const store = await open(folder);
    expect(statSync(join(folder, 'postgres')).uid).not.toBe(0);
    expect(statSync(`/proc/${pidOf(folder)}`).uid).toBe(statSync(join(folder, 'postgres')).uid);
    await store.close();
  });

  test.runIf(daemonCanEnter)('runs as an ordinary user, and keeps that user when root opens it', async () => {
    const user = daemon;
    const dataDir = join(folder, 'theirs');
    mkdirSync(dataDir, { mode: 0o700 });
    chownSync(dataDir, user.uid, user.gid);
    await storeProcess(dataDir, 'visit', user).until('closed');
    expect(statSync(join(dataDir, 'postgres')).uid).toBe(user.uid);
    const store = await open(dataDir);
    await storeProcess(dataDir, 'visit', user).until('closed');
    expect(await visits(store)).toBe(2);
    await store.close();
    await storeProcess(dataDir, 'visit', user).until('closed');
  });

  test.runIf(daemonCanEnter)("refuses another user's folder with a message that says whose it is", async () => {
    withStore();
    await (await open(folder)).close();
    const other = storeProcess(folder, 'visit', daemon);
    await expect(other.until('closed')).rejects.toThrow(/belongs to user \d+.*not to user 1 .*TAPEGRAPH_DATA/s);
  });
});
