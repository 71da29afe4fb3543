import { fork } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openAccess } from '../src/access/open-access.ts';
import { statementObserver, watchBy, withLimitMetrics } from '../src/cli/server/observing.ts';
import { ensureStarterRegistry } from '../src/intake/ingest/files/lists/starter-registry.ts';
import { LiveHub } from '../src/live/hub.ts';
import { readConfig } from '../src/platform/config/config.ts';
import { openLog } from '../src/platform/observe/log.ts';
import { createMetrics } from '../src/platform/observe/metrics.ts';
import { createTraces } from '../src/platform/observe/traces.ts';
import { createApp } from '../src/server.ts';
import { openStore, type Store } from '../src/store/rows/connection.ts';
import { listen } from './ground.ts';
import { load } from './load.ts';
import { median } from './statistics.ts';

const rounds = 9;
const requestsARound = 2000;

/** Observers of a server. */
interface Watch {
  name: string;
  metrics?: boolean;
  traces?: boolean;
  /** A line a request, to nowhere. */
  log?: boolean;
}

const watches: Watch[] = [
  { name: 'nothing' },
  { name: 'metrics', metrics: true },
  { name: 'log at debug', log: true },
  { name: 'traces of all', traces: true },
];

/** A collector in a process of its own, so that taking traces costs the server nothing. */
async function openCollector(): Promise<{ url: string; close: () => void }> {
  const child = fork(fileURLToPath(import.meta.url), ['--collect']);
  const [port] = (await once(child, 'message')) as [number];
  return { url: `http://127.0.0.1:${port}/v1/traces`, close: () => void child.kill() };
}

/** A gateway over a store's connections of its own, watched by `watch`. */
async function openWatched(watch: Watch, dataDir: string, tracesUrl: string) {
  const metrics = watch.metrics ? createMetrics('0') : null;
  const settings = { url: tracesUrl, headers: {}, serviceName: 'bench', ratio: 1 };
  const traces = watch.traces ? createTraces(settings, '0', (line) => console.error(line)) : null;
  const databaseUrl = process.env.DATABASE_URL ?? null;
  const store: Store = await openStore({ databaseUrl, dataDir, onStatement: statementObserver(metrics, traces) });
  const now = Date.now;
  const config = readConfig({ RATE_PRO: '1000000' });
  await ensureStarterRegistry(store, now);
  const opened = await openAccess({ store, config, now });
  const access = metrics ? withLimitMetrics(metrics, opened) : opened;
  const live = new LiveHub({ store, now, changes: null, onError: console.error });
  if (metrics) watchBy(metrics, { store, access, live, config, now });
  const nowhere = { write: () => true } as never;
  const log = openLog({ level: watch.log ? 'debug' : 'silent', secrets: [] }, nowhere);
  const server = await listen(createApp({ config, store, access, now, log, live, metrics, traces }));
  await access.accounts.set('bench', { siteTier: 'pro', apiTier: 'pro', classification: 'non_professional' });
  const session = await access.sessions.create('bench', 86_400_000);
  const close = async () => {
    live.close();
    await server.close();
    await access.close();
    await traces?.close();
    await store.close();
  };
  return { name: watch.name, url: server.url, headers: { authorization: `Bearer ${session}` }, close };
}

/** CPU time of this process that a request took, µs. */
async function cpuOf(url: string, headers: Record<string, string>): Promise<number> {
  const before = process.cpuUsage();
  await load({ urls: [url], headers, connections: 8, durationMs: 60_000, requests: requestsARound });
  const { user, system } = process.cpuUsage(before);
  return (user + system) / requestsARound;
}

/**
 * Cost of observing: the CPU time of a request with metrics, log or traces, relative to that without, for small
 * requests, where it is largest.
 */
export async function observing(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tapegraph-bench-'));
  await chmod(dataDir, 0o755);
  const collector = await openCollector();
  const servers = [];
  for (const watch of watches) servers.push(await openWatched(watch, dataDir, collector.url));
  try {
    for (const [what, path] of [
      ['from memory', '/v2/symbols/SPY'],
      ['one statement', '/v2/watchlists'],
    ]) {
      const took = new Map<string, number[]>(servers.map(({ name }) => [name, []]));
      for (let round = 0; round <= rounds; round++) {
        for (const { name, url, headers } of servers) {
          const us = await cpuOf(url + path, headers);
          if (round > 0) took.get(name)!.push(us); // the first warms it up
        }
      }
      const plain = took.get('nothing')!;
      for (const [name, each] of took) {
        const ratio = median(each.map((us, i) => us / plain[i]!));
        console.log(`${path} (${what}), ${name}: ${median(each).toFixed(0)} µs of CPU, ${ratio.toFixed(2)}×`);
      }
    }
  } finally {
    for (const { close } of servers.toReversed()) await close();
    collector.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

if (process.argv[2] === '--collect') {
  const server = http.createServer((request, response) => {
    request.resume().on('end', () => response.end('{}'));
  });
  server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port));
}
