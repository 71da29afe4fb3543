import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { sampleVersion } from '../../src/intake/sample/market/plan.ts';
import { writeMetadata } from '../../src/store/rows/metadata.ts';
import { dataFolder } from '../support/data-folder.ts';
import { storeForThisTest } from '../support/store.ts';
import { talk } from '../support/web-socket.ts';
import { ask, barsHeld } from './asking.ts';
import { tapegraph } from './command-line.ts';
import { childrenOf, isRunning } from './processes.ts';
import { served } from './served.ts';

type Served = Awaited<ReturnType<typeof served>>;

/** Two workers over a store of their own, and the headers of a caller of the free tier. */
async function twoWorkers(more: Record<string, string> = {}, args: string[] = []) {
  const store = await storeForThisTest();
  const env = { DATABASE_URL: store.databaseUrl, LOG_LEVEL: 'warn', RATE_FREE: '30', ...more };
  const running = await served(['--workers', '2', ...args], env);
  const account = ['account', 'set', 'acme', '--api-tier', 'free', '--site-tier', 'free'];
  await tapegraph([...account, '--classification', 'non_professional'], env);
  const made = async (command: string[]) => JSON.parse((await tapegraph([...command, '--json'], env)).stdout);
  const { key } = await made(['key', 'create', '--account', 'acme']);
  const { token } = await made(['session', 'create', '--account', 'acme']);
  const bearer = (credential: string) => ({ authorization: `Bearer ${credential}` });
  return { store, env, running, key: bearer(key), session: bearer(token) };
}

/** The process that waits to take the place of a worker, once it is prepared. */
async function preparedSpare({ child, log }: Served, among: readonly number[]): Promise<number> {
  const prepared = () =>
    [...log().matchAll(/worker process (\d+) is ready as the spare/g)].map(([, pid]) => Number(pid));
  const isSpare = (pid: number) => !among.includes(pid) && prepared().includes(pid);
  await vi.waitUntil(() => childrenOf(child.pid!).some(isSpare), { timeout: 60_000 });
  return childrenOf(child.pid!).find(isSpare)!;
}

/** True if a process listens at a TCP port. */
function listens(pid: number, port: number): boolean {
  const hex = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const listening = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((row) => row.trim().split(/\s+/))
    .filter(([, local, , state]) => local?.endsWith(hex) && state === '0A')
    .map((fields) => `socket:[${fields[9]}]`);
  const open = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      // Closed in the meantime.
      return [];
    }
  });
  return open.some((each) => listening.includes(each));
}

const bars = '/v2/stocks/SPY/bars?from=2026-11-19&to=2026-11-20';

describe('tapegraph serve --workers', () => {
  it('serves with several processes on one port that count rate and places in flight together, and drains', async () => {
    const { store, running, key, session } = await twoWorkers();
    const { child, ended, ready } = running;
    expect(ready).toMatchObject({ pid: child.pid, workers: [expect.any(Number), expect.any(Number)] });
    expect(new Set([child.pid, ...ready.workers]).size).toBe(3);
    const letGo = await barsHeld(store);
    const places = Array.from({ length: 8 }, () => ask(running, bars, { headers: key }));
    // The other two wait for the table.
    const answered: number[] = [];
    for (const place of places) void place.then(({ status }) => answered.push(status));
    await expect.poll(() => answered).toEqual(Array(6).fill(429));
    await letGo();
    expect((await Promise.all(places)).filter(({ status }) => status === 429)).toHaveLength(6);
    const all = await Promise.all(Array.from({ length: 50 }, () => ask(running, '/v2/symbols', { headers: session })));
    expect(all.filter(({ status }) => status === 200)).toHaveLength(30);
    expect(all.filter(({ status }) => status === 429)).toHaveLength(20);
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: 0, stderr: '' });
    expect(ready.workers.filter(isRunning)).toEqual([]);
    // Every answer was counted by the worker that gave it, before it ended.
    const { rows } = await store.pool.query('select sum(count)::int as sum from usage_counts');
    expect(rows[0].sum).toBe(58);
  });

  it('takes a stream ticket in whichever worker it is used, once', async () => {
    const { running, key, session } = await twoWorkers({ RATE_FREE: '1000' });
    const use = async (ticket: string) => {
      const talking = talk(`${running.ready.url}/v2/ws`);
      onTestFinished(() => talking.socket.terminate());
      await talking.open;
      talking.send({ op: 'auth', ticket, proto: 3, encoding: 'protobuf' });
      await expect.poll(() => talking.said.length, { timeout: 20_000 }).toBe(1);
      return talking.said[0].op;
    };
    // Connections are spread by chance: a ticket known to one worker alone would be refused half of the time.
    for (let i = 0; i < 12; i++) {
      const headers = i % 2 === 0 ? key : session;
      const { status, json } = await ask(running, '/v2/stream/ticket', { method: 'POST', headers });
      expect(status).toBe(200);
      const { ticket } = (json as { data: { ticket: string } }).data;
      const used = await Promise.all([1, 2, 3].map(() => use(ticket)));
      expect(used.sort()).toEqual(['authed', 'nack', 'nack']);
    }
  });

  it('puts another in the place of one that is killed; no write that was accepted is lost, and nobody waits for ever', async () => {
    const { store, running, session } = await twoWorkers({ RATE_FREE: '100000' });
    const { child, ended, ready } = running;
    let stop = false;
    /** The number of the last write that was accepted, by writer. */
    const accepted = [0, 0, 0];
    const others = new Set<number>();
    const write = async (writer: number) => {
      for (let n = 1; !stop; n++) {
        const put = { method: 'PUT', headers: session };
        const { status } = await ask(running, `/v2/watchlists/w${writer}`, put, { name: String(n), symbols: ['SPY'] });
        if (status === 200) accepted[writer] = n;
        else others.add(status);
        await delay(10);
      }
    };
    const writers = accepted.map((_, writer) => write(writer));
    const through = async (more: number) => {
      const goal = accepted.map((n) => n + more);
      await vi.waitUntil(() => accepted.every((n, writer) => n >= goal[writer]!), { timeout: 60_000 });
    };
    await through(10);
    process.kill(ready.workers[0]!, 'SIGKILL');
    await through(10);
    // Two that serve, and the next that waits to take a place.
    await vi.waitUntil(() => childrenOf(child.pid!).length === 3, { timeout: 30_000 });
    await through(10);
    stop = true;
    await Promise.all(writers);
    const { rows } = await store.pool.query<{ name: string }>('select name from watchlists order by id');
    expect(rows.map(({ name }) => Number(name))).toEqual(accepted);
    // A connection to the worker that was killed is cut, no more.
    expect([...others].filter((status) => status !== 0)).toEqual([]);
    child.kill('SIGTERM');
    const { code, stderr } = await ended;
    expect(code).toBe(0);
    expect(stderr.match(/was ended by SIGKILL[^;]*; it is replaced/g)).toHaveLength(1);
  });

  it('has a process that is prepared take the place of one that is killed, and then prepares the next', async () => {
    const { running } = await twoWorkers({ LOG_LEVEL: 'info' });
    const { ready, log } = running;
    let serving = ready.workers;
    for (let kill = 0; kill < 3; kill++) {
      const spare = await preparedSpare(running, serving);
      expect(listens(spare, ready.port)).toBe(false);
      process.kill(serving[0]!, 'SIGKILL');
      // Its modules are loaded and its operations compiled: what is left takes a tenth of a second of CPU time.
      await vi.waitUntil(() => listens(spare, ready.port), { timeout: 15_000, interval: 10 });
      await vi.waitUntil(() => log().includes(`worker process ${spare} replaces it`), { timeout: 15_000 });
      serving = [...serving.slice(1), spare];
    }
    expect((await ask(running, '/readyz', {})).status).toBe(200);
  });

  it('replaces the process that waits when it is killed, which never counts as a worker that ended', async () => {
    const { running } = await twoWorkers({ LOG_LEVEL: 'info' });
    const { child, ended, ready, log } = running;
    // One more than the workers may end as soon as they start.
    for (let kill = 0; kill < 4; kill++) {
      const spare = () => childrenOf(child.pid!).filter((pid) => !ready.workers.includes(pid));
      await vi.waitUntil(() => spare().length === 1, { timeout: 30_000, interval: 10 });
      const [pid] = spare();
      process.kill(pid!, 'SIGKILL');
      await vi.waitUntil(
        () => new RegExp(`worker process ${pid} was ended by SIGKILL[^;]*; it was the spare`).test(log()),
        {
          timeout: 20_000,
        },
      );
    }
    expect(ready.workers.filter(isRunning)).toEqual(ready.workers);
    const spare = await preparedSpare(running, ready.workers);
    child.kill('SIGTERM');
    expect((await ended).code).toBe(0);
    expect([...ready.workers, spare].filter(isRunning)).toEqual([]);
  });

  it('leaves no worker, and no embedded database, when the process that started them is killed', async () => {
    const data = dataFolder();
    const running = await served(['--workers', '2'], { TAPEGRAPH_DATA: data, LOG_LEVEL: 'warn' });
    const { child } = running;
    // The workers, and the one that waits to take a worker's place.
    await vi.waitUntil(() => childrenOf(child.pid!).length === 3, { timeout: 20_000 });
    // The database is the child of a worker.
    const all = childrenOf(child.pid!).flatMap((pid) => [pid, ...childrenOf(pid)]);
    expect(all).toHaveLength(4);
    child.kill('SIGKILL');
    await expect.poll(() => all.filter(isRunning), { timeout: 20_000, interval: 50 }).toEqual([]);
    await vi.waitUntil(() => !existsSync(`${data}/postgres/postmaster.pid`), { timeout: 10_000 });
  });

  it('leaves nothing behind when its terminal closes, which every process is told of', async () => {
    const data = dataFolder();
    const running = await served(['--workers', '2'], { TAPEGRAPH_DATA: data, LOG_LEVEL: 'warn' });
    const { child, ended, ready } = running;
    for (const pid of [...ready.workers, child.pid!]) process.kill(pid, 'SIGHUP');
    expect(await ended).toMatchObject({ code: 0, stderr: '' });
    expect(ready.workers.filter(isRunning)).toEqual([]);
    expect(existsSync(`${data}/postgres/postmaster.pid`)).toBe(false);
  });

  it('starts no process ahead with --no-spare-worker, and one in the place of a worker that is killed', async () => {
    const { running } = await twoWorkers({ LOG_LEVEL: 'info' }, ['--no-spare-worker']);
    const { child, ready, log } = running;
    process.kill(ready.workers[0]!, 'SIGKILL');
    await vi.waitUntil(() => log().includes('replaces it'), { timeout: 60_000 });
    expect(childrenOf(child.pid!)).toHaveLength(2);
    expect(log()).not.toContain('is ready as the spare');
  });

  it('gives up with 1 when they end as soon as they start', async () => {
    const { running } = await twoWorkers();
    const killing = setInterval(() => {
      try {
        for (const pid of childrenOf(running.child.pid!)) process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended.
      }
    }, 20);
    onTestFinished(() => clearInterval(killing));
    const { code, stderr } = await running.ended;
    expect(code).toBe(1);
    expect(stderr).toContain('tapegraph: the workers end as soon as they start: ');
  });

  it('brings the sample market once, and has one process more in which it trades while it is open', async () => {
    const store = await storeForThisTest();
    // The market is said to be there, which is quicker than bringing it.
    const clock = '2026-11-19T15:05:00Z';
    await writeMetadata(store, 'sample', JSON.stringify({ version: sampleVersion, throughMs: Date.parse(clock) }));
    const env = { TAPEGRAPH_DATA: dataFolder(), DATABASE_URL: store.databaseUrl, LOG_LEVEL: 'warn' };
    const running = await served(['--workers', '2', '--sample', '--clock', clock], env);
    const { child, ended, ready } = running;
    expect(ready.workers).toHaveLength(2);
    await vi.waitUntil(() => ready.workers.flatMap(childrenOf).length === 1, { timeout: 20_000 });
    const headers = { authorization: `Bearer ${ready.key}` };
    expect((await ask(running, '/v2/flow/large-trades?symbol=SPX', { headers })).status).toBe(200);
    child.kill('SIGINT');
    expect(await ended).toMatchObject({ code: 0, stderr: '' });
  });

  it('says why they cannot begin', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void taken.close());
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const { databaseUrl } = await storeForThisTest();
    const env = { DATABASE_URL: databaseUrl };
    expect(await tapegraph(['serve', '--workers', '2', '--port', String(port)], env)).toMatchObject({
      code: 1,
      stderr: `tapegraph: port ${port} of 127.0.0.1 is in use: choose another with --port or PORT, or 0 for any that is free\n`,
    });
    const { code, stderr } = await tapegraph(['serve', '--workers', 'many'], env);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('from 1 to 256, or auto') });
  });
});
