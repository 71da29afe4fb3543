import { once } from 'node:events';
import { existsSync } from 'node:fs';
import http from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { sampleVersion } from '../../src/intake/sample/market/plan.ts';
import { writeMetadata } from '../../src/store/rows/metadata.ts';
import { dataFolder } from '../support/data-folder.ts';
import { waitingForLocks } from '../support/locks.ts';
import { storeForThisTest } from '../support/store.ts';
import { ask, barsHeld } from './asking.ts';
import { start, tapegraph } from './command-line.ts';
import { childrenOf, isRunning, workersOf } from './processes.ts';
import { served } from './served.ts';

vi.setConfig({ testTimeout: 120_000 });
const patient = { timeout: 60_000, interval: 20 };
const barsOf = (symbol: string) => `/v2/stocks/${symbol}/bars?from=2026-11-19&to=2026-11-20`;

type Served = Awaited<ReturnType<typeof served>>;

/** A server without `--workers`. */
const server = (env: Record<string, string>, args: string[] = []) => served(args, { LOG_LEVEL: 'warn', ...env });

/** A request on a connection of its own: its status, or how the connection failed. */
function attempt({ ready }: Served, path: string, headers: Record<string, string> = {}): Promise<number | string> {
  return new Promise((resolve) => {
    const request = http.get(`${ready.url}${path}`, { agent: false, headers }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode!));
      response.on('error', (error: NodeJS.ErrnoException) => resolve(error.code!));
    });
    request.on('error', (error: NodeJS.ErrnoException) => resolve(error.code!));
  });
}

/** Node's option that runs a script in each worker, before its own program. */
const inWorkers = (script: string) =>
  `--import=data:text/javascript,${encodeURIComponent(`if (process.argv[1]?.endsWith('worker.ts')) { ${script} }`)}`;

const [workerOf, databaseOf] = [
  ({ ready }: Served) => ready.workers[0]!,
  (data: string) => `${data}/postgres/postmaster.pid`,
];

describe('the one worker of a server', () => {
  it('is replaced when a signal ends it: its requests are cut off, and no other is refused', async () => {
    const store = await storeForThisTest();
    const env = { DATABASE_URL: store.databaseUrl };
    await tapegraph(['account', 'set', 'acme', '--api-tier', 'pro', '--classification', 'non_professional'], env);
    const { key } = JSON.parse((await tapegraph(['key', 'create', '--account', 'acme', '--json'], env)).stdout);
    const headers = { authorization: `Bearer ${key}` };
    const running = await server(env);
    const { child, ended, ready } = running;
    expect(ready).toMatchObject({ pid: child.pid, workers: childrenOf(child.pid!) });
    // A symbol each, which no request before has read.
    const signals = [
      { symbol: 'SPY', signal: 'SIGKILL', reason: ', as when the system or the container has no memory left' },
      { symbol: 'QQQ', signal: 'SIGABRT', reason: ', as when its heap is full (MEMORY_LIMIT)' },
      { symbol: 'IWM', signal: 'SIGSEGV', reason: '' },
    ];
    const ends: object[] = [];
    for (const { symbol, signal, reason } of signals) {
      const bars = barsOf(symbol);
      const [pid] = workersOf(child.pid!);
      const letGo = await barsHeld(store);
      const inFlight = attempt(running, bars, headers);
      await vi.waitUntil(async () => (await waitingForLocks(store.pool, 'bar_blocks')) === 1, patient);
      process.kill(pid!, signal);
      ends.push({ msg: `worker process ${pid} was ended by ${signal}${reason}; it is replaced` });
      expect(await inFlight).toBe('ECONNRESET');
      await letGo();
      // At once, while nobody accepts connections, and each once.
      const others = Array.from({ length: 20 }, (_, i) =>
        i % 2 === 0 ? attempt(running, '/readyz') : attempt(running, bars, headers),
      );
      const statuses = await Promise.all(others);
      // A key has two of these in flight at most.
      expect(statuses.filter((_, i) => i % 2 === 0)).toEqual(Array(10).fill(200));
      expect(new Set(statuses)).toEqual(new Set([200, 429]));
      expect(childrenOf(child.pid!)).not.toContain(pid);
    }
    child.kill('SIGTERM');
    const { code, stderr } = await ended;
    expect(code).toBe(0);
    expect(
      stderr
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toMatchObject(ends);
  });

  it('is replaced when its heap is full, and its embedded database goes on', async () => {
    const data = dataFolder();
    const fill = 'process.on("SIGUSR2", () => { const all = []; for (;;) all.push(new Array(1e5).fill(0.5)); });';
    const env = { TAPEGRAPH_DATA: data, NODE_OPTIONS: inWorkers(fill), MEMORY_LIMIT: '384M' };
    const running = await server(env);
    process.kill(workerOf(running), 'SIGUSR2');
    await vi.waitUntil(() => /SIGABRT, as when its heap is full .*; it is replaced/.test(running.log()), patient);
    expect(running.log()).toMatch(/heap out of memory/);
    expect(await attempt(running, '/readyz')).toBe(200);
    running.child.kill('SIGTERM');
    expect((await running.ended).code).toBe(0);
    expect(existsSync(databaseOf(data))).toBe(false);
  });

  it('that cannot begin because it aborts ends the command, which says how', async () => {
    const data = dataFolder();
    const env = { TAPEGRAPH_DATA: data, LOG_LEVEL: 'warn', NODE_OPTIONS: inWorkers('process.abort();') };
    const { ended } = start(['serve', '--port', '0', '--json'], env);
    const { code, stdout, stderr } = await ended;
    expect(code).toBe(1);
    expect(JSON.parse(stdout).error.message).toMatch(
      /^the workers end as soon as they start: worker process \d+ was ended by SIGABRT, as when its heap is full/,
    );
    expect(stderr.match(/; it is replaced/g)).toHaveLength(4);
  });

  it('that ends again and again ends the command, and leaves no embedded database', async () => {
    const data = dataFolder();
    const running = await server({ TAPEGRAPH_DATA: data });
    const killing = setInterval(() => {
      try {
        for (const pid of workersOf(running.child.pid!)) process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended.
      }
    }, 20);
    onTestFinished(() => clearInterval(killing));
    const { code, stderr } = await running.ended;
    expect(code).toBe(1);
    expect(stderr).toContain('tapegraph: the workers end as soon as they start: ');
    expect(existsSync(databaseOf(data))).toBe(false);
  });

  it('may just be starting at a clean end, which stops the embedded database', async () => {
    const data = dataFolder();
    const running = await server({ TAPEGRAPH_DATA: data });
    process.kill(workerOf(running), 'SIGKILL');
    await vi.waitUntil(() => running.log().includes('it is replaced'), patient);
    running.child.kill('SIGTERM');
    expect((await running.ended).code).toBe(0);
    expect(existsSync(databaseOf(data))).toBe(false);
  });

  it('ends, and the embedded database too, when the process that started it is killed', async () => {
    const data = dataFolder();
    const running = await server({ TAPEGRAPH_DATA: data });
    const all = running.ready.workers.flatMap((pid) => [pid, ...childrenOf(pid)]);
    expect(all).toHaveLength(2);
    running.child.kill('SIGKILL');
    await vi.waitUntil(() => !all.some(isRunning), patient);
    expect(existsSync(databaseOf(data))).toBe(false);
  });

  it('leaves the port, that of metrics, the sample’s key, the clock and all counts to the one that replaces it', async () => {
    const store = await storeForThisTest();
    // A Saturday: the clock is set to Monday's open.
    const clock = '2026-11-21T12:00:00Z';
    const metadata = { version: sampleVersion, throughMs: Date.parse('2026-11-23T14:30:00Z') };
    await writeMetadata(store, 'sample', JSON.stringify(metadata));
    const free = http.createServer().listen(0, '127.0.0.1');
    await once(free, 'listening');
    const { port } = free.address() as { port: number };
    await new Promise((resolve) => free.close(resolve));
    const env = { DATABASE_URL: store.databaseUrl, TAPEGRAPH_DATA: dataFolder(), METRICS_PORT: String(port) };
    const running = await server(env, ['--sample', '--always-open', '--clock', clock]);
    const headers = { authorization: `Bearer ${running.ready.key}` };
    const state = async () => {
      const query = { query: '{ market { sessionDate isOpen } }' };
      const { json } = await ask(running, '/graphql', { method: 'POST', headers }, query);
      const { data, extensions } = json as { data: object; extensions: { cost: { limit: number; remaining: number } } };
      const metrics = await fetch(`http://127.0.0.1:${port}/metrics`);
      const { limit, remaining } = extensions.cost;
      return { data, taken: limit - remaining, metrics: metrics.status };
    };
    const before = await state();
    expect(before).toMatchObject({ data: { market: { isOpen: true } }, metrics: 200 });
    process.kill(workerOf(running), 'SIGKILL');
    // Waits in the queue of the port until the next worker listens.
    expect(await attempt(running, '/readyz')).toBe(200);
    expect(await state()).toEqual({ ...before, taken: 2 * before.taken });
    expect(childrenOf(running.child.pid!)).not.toEqual(running.ready.workers);
  });
});
