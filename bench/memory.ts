import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { untilLoaded } from '../scripts/own-gateway.ts';
import { openAccess } from '../src/access/open-access.ts';
import { exchangeInstant } from '../src/core/domain/market-time.ts';
import { readConfig } from '../src/platform/config/config.ts';
import { openStore } from '../src/store/rows/connection.ts';
import { prepareBars, windows } from './bars-page.ts';
import { dashboardQuery, prepareDashboard } from './dashboard.ts';
import { prepareGex, session } from './gex-history.ts';
import { type LoadOrder, load } from './load.ts';
import { readStreams } from './stream-readers.ts';

/** Interval at which the memory of the mixed run is read, ms. */
const everyMs = 100;
/** Time a gateway is left alone before its memory at rest is read, ms. */
const restMs = 8000;
const readers = 300;
/** Where the clock of the mixed run begins: before a session, so that what it asks for is of sessions that are over. */
const clock = '2026-11-20T13:00:00Z';
const settings = {
  RATE_PRO: '1000000',
  MAX_STREAMS: '10000',
  LOG_LEVEL: 'warn',
  SESSION_SECRET: 'a secret of a measurement alone',
};

/** A gateway in a process of its own. */
interface Running {
  child: ChildProcess;
  /** The process that answers requests. */
  worker: number;
  url: string;
  /** From its start until it took requests, ms, and what CPU it had taken by then. */
  readyMs: number;
  readyCpuMs: number;
}

const program = fileURLToPath(new URL('../bin/tapegraph.mjs', import.meta.url));

/** Resident memory of a process now and at its most, MB, and the CPU it has taken, ms. */
async function used(pid: number): Promise<{ rss: number; peak: number; cpuMs: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const of = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)![1]) / 1000;
  const stat = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /, '').split(' ');
  return { rss: of('VmRSS'), peak: of('VmHWM'), cpuMs: (Number(stat[11]) + Number(stat[12])) * 10 };
}

async function start(dataDir: string, args: string[] = []): Promise<Running> {
  const startedMs = performance.now();
  const child = spawn(process.execPath, [program, 'serve', '--port', '0', '--json', ...args], {
    env: { ...process.env, TAPEGRAPH_DATA: dataDir, ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [first] = (await once(child.stdout!, 'data')) as [Buffer];
  const readyMs = performance.now() - startedMs;
  const { url, workers } = JSON.parse(first.toString());
  const cpus = await Promise.all([child.pid!, workers[0]].map(async (pid) => (await used(pid)).cpuMs));
  return { child, worker: workers[0], url, readyMs, readyCpuMs: cpus[0]! + cpus[1]! };
}

async function stop({ child }: Running): Promise<void> {
  child.kill('SIGTERM');
  await once(child, 'exit');
}

const shown = (megabytes: number) => `${megabytes.toFixed(0)} MB`;

async function atRest(what: string, dataDir: string, args: string[] = []): Promise<void> {
  const gateway = await start(dataDir, args);
  await untilLoaded(gateway.url);
  await delay(restMs);
  const { rss, peak } = await used(gateway.worker);
  const starter = await used(gateway.child.pid!);
  const ready = `ready after ${(gateway.readyMs / 1000).toFixed(1)} s, ${(gateway.readyCpuMs / 1000).toFixed(2)} s of CPU`;
  console.log(
    `at rest, ${what}: ${shown(rss)} (most ${shown(peak)}), and ${shown(starter.rss)} of what starts it; ${ready}`,
  );
  await stop(gateway);
}

/** Writes the data that the mixed run reads. Returns a site session with all rights and no rate limit. */
async function prepare(dataDir: string): Promise<string> {
  const store = await openStore({ databaseUrl: null, dataDir });
  try {
    await prepareBars(store);
    await prepareGex(store);
    await prepareDashboard(store);
    const access = await openAccess({ store, config: readConfig(settings), now: () => Date.parse(clock) });
    await access.accounts.set('bench', { siteTier: 'pro', apiTier: 'pro', classification: 'non_professional' });
    const token = await access.sessions.create('bench', 86_400_000);
    await access.close();
    return token;
  } finally {
    await store.close();
  }
}

/** Concurrent requests of clients: dashboards, pages of bars, whole GEX histories, and both as CSV and Arrow. */
function mixed(url: string, token: string): Record<string, LoadOrder> {
  const headers = { authorization: `Bearer ${token}` };
  const common = { headers, durationMs: 1_800_000 };
  const bars = windows(20_000).map((path) => url + path);
  const histories = Array.from({ length: 5000 }, (_, i) => `${url}/v2/gex/SA/history?date=${session}&n=${i}`);
  const bodies = Array.from({ length: 2000 }, (_, i) =>
    JSON.stringify({
      query: dashboardQuery,
      variables: { from: String(exchangeInstant(session, 570) - i), to: String(exchangeInstant(session, 960)) },
    }),
  );
  const as = (accept: string) => ({ ...headers, accept });
  return {
    dashboards: {
      ...common,
      urls: [`${url}/graphql`],
      method: 'POST',
      bodies,
      headers: { ...headers, 'content-type': 'application/json' },
      connections: 2,
      requests: 800,
    },
    'pages of 1,000 bars': { ...common, urls: bars, connections: 4, requests: 4000 },
    'GEX histories, untrimmed': { ...common, urls: histories, connections: 2, requests: 12 },
    'GEX histories as CSV': { ...common, urls: histories, headers: as('text/csv'), connections: 1, requests: 12 },
    'bars as Arrow': {
      ...common,
      urls: bars.toReversed(),
      headers: as('application/vnd.apache.arrow.stream'),
      connections: 1,
      requests: 800,
    },
    'bars as CSV, gzip': {
      ...common,
      urls: bars.toReversed(),
      headers: { ...as('text/csv'), 'accept-encoding': 'gzip' },
      connections: 1,
      requests: 800,
    },
  };
}

async function mixedRun(dataDir: string, token: string, args: string[]): Promise<void> {
  const gateway = await start(dataDir, ['--clock', clock, ...args]);
  const pid = gateway.worker;
  const seen: number[] = [];
  const timer = setInterval(() => void used(pid).then(({ rss }) => seen.push(rss)), everyMs);
  const streams = await readStreams({
    url: `${gateway.url}/v2/stream?topics=quotes:SA`,
    method: 'GET',
    headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
    readers,
  });
  const before = await used(pid);
  const orders = Object.entries(mixed(gateway.url, token));
  const results = await Promise.all(orders.map(([, order]) => load(order)));
  clearInterval(timer);
  const { peak, cpuMs } = await used(pid);
  streams.stop();
  await delay(restMs);
  const { rss } = await used(pid);
  seen.sort((a, b) => a - b);
  for (const [index, [what]] of orders.entries()) {
    const { requestsPerSecond, p50Ms, p99Ms } = results[index]!;
    console.log(`  ${what}: ${requestsPerSecond.toFixed(1)}/s, p50 ${p50Ms.toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms`);
  }
  console.log(
    `mixed run, ${readers} streams: median ${shown(seen[seen.length >> 1]!)}, most ${shown(peak)}, ${shown(rss)} ` +
      `${restMs / 1000} s after; ${((cpuMs - before.cpuMs) / 1000).toFixed(1)} s of CPU`,
  );
  await stop(gateway);
}

async function inFolder(work: (dataDir: string) => Promise<void>): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tapegraph-bench-'));
  // Open to root's embedded server, which runs as another user.
  await chmod(dataDir, 0o755);
  try {
    await work(dataDir);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Memory of a gateway's process: idle on an empty store, beside the sample market, and under all requests at once. */
export async function memory(): Promise<void> {
  await inFolder(async (dataDir) => {
    await atRest('empty store, first start', dataDir);
    await atRest('empty store', dataDir);
    await atRest('the sample market is brought', dataDir, ['--sample']);
    await atRest('the sample market is there', dataDir, ['--sample']);
  });
  await inFolder(async (dataDir) => {
    const token = await prepare(dataDir);
    await mixedRun(dataDir, token, []);
  });
}
