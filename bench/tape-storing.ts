// Cost of storing an option tape: `ingest option-trades` into an empty embedded store, in a process of its own.
import { fork } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exchangeInstant } from '../src/core/domain/market-time.ts';
import { ingestFiles } from '../src/intake/ingest/ingest.ts';
import { fileReaderOptions } from '../src/platform/runtime/memory-plan.ts';
import { openStore, type Store } from '../src/store/rows/connection.ts';
import { tapeSession } from './tape-market.ts';

/** Cost of storing a tape. */
export interface Storing {
  cpuSeconds: number;
  /** CPU time of all processes of PostgreSQL. */
  databaseCpuSeconds: number;
  wallSeconds: number;
  peakMiB: number;
  /** Names what is stored: a hash over every table of a tape. */
  hash: string;
}

const nowMs = exchangeInstant(tapeSession, 1200);
const tapeTables = ['flow_coverage', 'flow_events', 'flow_legs', 'flow_feed', 'cross_sections', 'ranked_prints'].concat(
  ['ranked_sessions', 'option_bar_blocks', 'contract_minute_blocks'],
);

/** CPU ticks of a process, and of those it has waited for. */
async function ticksOf(pid: string, withChildren: boolean): Promise<{ parent: string; ticks: number }> {
  const stat = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /, '').split(' ');
  const counted = stat.slice(11, withChildren ? 15 : 13);
  return { parent: stat[1]!, ticks: counted.reduce((sum, each) => sum + Number(each), 0) };
}

/** CPU seconds that the server of a data folder has taken so far. */
async function databaseCpu(dataDir: string): Promise<number> {
  const files = await readdir(dataDir, { recursive: true });
  const file = files.find((name) => name.endsWith('postmaster.pid'))!;
  const postmaster = (await readFile(join(dataDir, file), 'utf8')).split('\n')[0]!;
  let { ticks } = await ticksOf(postmaster, true);
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    // A process may end meanwhile.
    const one = await ticksOf(pid, false).catch(() => null);
    if (one?.parent === postmaster) ticks += one.ticks;
  }
  return ticks / 100;
}

async function hashOf({ pool }: Store): Promise<string> {
  const hashes: string[] = [];
  for (const table of tapeTables) {
    const sum = `SELECT sum(('x' || substr(md5(t::text), 1, 15))::bit(60)::bigint) AS sum FROM ${table} t`;
    hashes.push((await pool.query(sum)).rows[0].sum);
  }
  return hashes.join(' ');
}

async function measure(path: string, quotes: string, threads: number): Promise<Storing> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tapegraph-bench-'));
  // Open to root's embedded server, which runs as another user.
  await chmod(dataDir, 0o755);
  const store = await openStore({ databaseUrl: null, dataDir });
  try {
    const databaseBefore = await databaseCpu(dataDir);
    const [cpu, wall] = [process.cpuUsage(), performance.now()];
    const quoteFiles = quotes === '' ? [] : [quotes];
    const { files } = await ingestFiles(store, 'option-trades', [path], { now: () => nowMs, threads, quoteFiles });
    if (files[0]!.status !== 'stored') throw new Error(`${files[0]!.reason}`);
    const { user, system } = process.cpuUsage(cpu);
    return {
      cpuSeconds: (user + system) / 1e6,
      databaseCpuSeconds: (await databaseCpu(dataDir)) - databaseBefore,
      wallSeconds: (performance.now() - wall) / 1000,
      peakMiB: process.resourceUsage().maxRSS / 1024,
      hash: await hashOf(store),
    };
  } finally {
    await store.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Stores a tape, with a file of quotes or none. */
export function storeTape(path: string, quotes: string, threads: number): Promise<Storing> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(import.meta.url), ['--store', path, quotes, String(threads)], {
      execArgv: [...process.execArgv, ...fileReaderOptions],
    });
    child.once('message', (storing) => resolve(storing as Storing));
    child.once('exit', (code) => reject(new Error(`storing a tape ended with ${code}`)));
  });
}

if (process.argv[2] === '--store') {
  const [path, quotes, threads] = process.argv.slice(3) as [string, string, string];
  const storing = await measure(path, quotes, Number(threads));
  if (process.send) process.send(storing, () => process.exit(0));
  else console.log(JSON.stringify(storing));
}
