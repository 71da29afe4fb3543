import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { untilLoaded } from '../scripts/own-gateway.ts';
import { type ClientKind, startClients } from '../test/support/busy-clients.ts';
import { openGround } from './ground.ts';
import { cpuOf, type Served, served, worst } from './served.ts';

/** Kills of a worker, and of gateway and database together. */
const kills = 10;
const starts = 5;
const quiet = { LOG_LEVEL: 'warn' };
/** Serving time of a worker before it is killed, ms: one that ends sooner counts as one that cannot start. */
const settledMs = 5500;

/** The sockets that listen at a port, by their inodes; Linux only. */
function listeningAt(port: number): Set<string> {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const rows = readFileSync('/proc/net/tcp', 'utf8').trim().split('\n').slice(1);
  const fields = rows.map((row) => row.trim().split(/\s+/));
  return new Set(
    fields.flatMap(([, local, , state, , , , , , inode]) =>
      local!.endsWith(`:${hex}`) && state === '0A' ? [inode!] : [],
    ),
  );
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await delay(5);
}

const childrenOf = (pid: number) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);

/** Memory of a process, MB: resident, and its proportional share of what it shares with others. */
function memoryOf(pid: number): string {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const of = (name: string) => Math.round(Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(rollup)![1]) / 1000);
  return `${of('Rss')} MB (${of('Pss')} MB proportional)`;
}

/** Kills one of two workers repeatedly; measures the time until its replacement listens, and its CPU time, ms. */
async function killWorkers(server: Served): Promise<{ took: number[]; cpu: number[] }> {
  const { child, port, log } = server;
  const prepared = () => log().match(/is ready as the spare/g)?.length ?? 0;
  const took: number[] = [];
  const cpu: number[] = [];
  let victims = server.workers;
  for (let kill = 0; kill < kills; kill++) {
    await until(() => prepared() > kill);
    await delay(settledMs);
    const spare = childrenOf(child.pid!).filter((pid) => !victims.includes(pid));
    if (kill === 0) console.log(`a waiting spare: ${memoryOf(spare[0]!)}`);
    const before = listeningAt(port);
    const preparedCpuMs = cpuOf(spare[0]!);
    const startedMs = performance.now();
    process.kill(victims[0]!, 'SIGKILL');
    await until(() => [...listeningAt(port)].some((inode) => !before.has(inode)));
    took.push(performance.now() - startedMs);
    cpu.push(cpuOf(spare[0]!) - preparedCpuMs);
    victims = [...victims.slice(1), ...spare];
  }
  return { took, cpu };
}

/** Measures the absence of a killed worker, at rest and under load. */
export async function killedWorkers(): Promise<void> {
  const ground = await openGround(Date.now());
  const { dataDir, key } = ground;
  try {
    for (const clients of [0, 16]) {
      const server = await served(dataDir, { RATE_PRO: '1000000', LOG_LEVEL: 'info' }, ['--workers', '2']);
      const busy = startClients(Array<ClientKind>(clients).fill('keep-alive'), {
        url: server.url,
        headers: { authorization: `Bearer ${key}` },
        small: [{ path: '/v2/symbols' }],
        large: '/v2/openapi.json',
      });
      const { took, cpu } = await killWorkers(server);
      busy.stop();
      server.child.kill('SIGTERM');
      await server.exit;
      console.log(
        `a killed worker, ${clients} busy clients, ${kills} times: another listens after ${worst(took)}, CPU ${worst(cpu)}`,
      );
    }
  } finally {
    await ground.close();
  }
}

/** Gateway and embedded database killed together while requests are counted; how long until a new gateway is ready. */
async function crashes(dataDir: string): Promise<void> {
  const took: number[] = [];
  const cpu: number[] = [];
  let server = await served(dataDir, quiet, ['--sample']);
  for (let kill = 0; kill < kills; kill++) {
    const busy = startClients(Array<ClientKind>(4).fill('keep-alive'), {
      url: server.url,
      headers: { authorization: `Bearer ${server.key}` },
      small: [{ path: '/v2/symbols' }],
      large: '/v2/openapi.json',
    });
    await delay(2000 + Math.random() * 1000);
    const postmaster = Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0]);
    busy.stop();
    server.child.kill('SIGKILL');
    // The database has a process group of its own.
    process.kill(-postmaster, 'SIGKILL');
    server = await served(dataDir, quiet, ['--sample']);
    took.push(server.readyMs);
    cpu.push(server.readyCpuMs);
  }
  server.child.kill('SIGTERM');
  await server.exit;
  console.log(`gateway and database killed together, ${kills} times: ready after ${worst(took)}, CPU ${worst(cpu)}`);
}

/** Servers started on a store that is there and was closed. */
async function warmStarts(dataDir: string): Promise<void> {
  for (const args of [['--sample'], ['--sample', '--workers', '2']]) {
    const took: number[] = [];
    const cpu: number[] = [];
    for (let start = 0; start < starts; start++) {
      const { child, exit, readyMs, readyCpuMs } = await served(dataDir, quiet, args);
      took.push(readyMs);
      cpu.push(readyCpuMs);
      child.kill('SIGTERM');
      await exit;
    }
    console.log(`serve ${args.join(' ')}, ${starts} times: ready after ${worst(took)}, CPU ${worst(cpu)}`);
  }
}

/** A data folder with the sample market: CLEAN_END_DATA, which is reused by the next run, or a temporary one. */
async function withSample(work: (dataDir: string) => Promise<void>): Promise<void> {
  const kept = process.env.CLEAN_END_DATA;
  const dataDir = kept ?? (await mkdtemp(join(tmpdir(), 'tapegraph-bench-')));
  await chmod(dataDir, 0o755);
  try {
    const { child, exit, url } = await served(dataDir, quiet, ['--sample']);
    await untilLoaded(url);
    child.kill('SIGTERM');
    await exit;
    await work(dataDir);
  } finally {
    if (kept === undefined) await rm(dataDir, { recursive: true, force: true });
  }
}

/** Measures a server's start over a store with the sample market: after a clean end, and after a crash. */
export async function startsAndCrashes(): Promise<void> {
  await withSample(async (dataDir) => {
    await warmStarts(dataDir);
    await crashes(dataDir);
  });
}
