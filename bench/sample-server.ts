import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { untilLoaded } from '../scripts/own-gateway.ts';
import type { Asked, ProcessState } from './process-probe.ts';

/** The clock while the market is brought, and over one that was brought before: then all of it is known. */
const [bringingClock, broughtClock] = ['2026-11-20T07:30:00-05:00', '2026-11-20T08:30:00-05:00'];
const ticksASecond = 100;
/** Token of the metrics of its servers. */
export const metricsToken = 'a-token-of-a-measurement';

/** A server over the sample market, in a process of its own. */
export interface Served {
  child: ChildProcess;
  /** The process that answers requests. */
  worker: number;
  url: string;
  /** A session of a pro, attested account whose minute has a million requests. */
  token: string;
  /** Sessions of others: a light client, and two that send much. */
  lightToken: string;
  senders: string[];
  /** CPU and memory of the process, from its probe. */
  state(asked?: Asked): Promise<ProcessState>;
  close(): Promise<void>;
}

/** CPU time of a server's worker, ms; the database's is not in it. */
export function cpuMsOf({ worker }: Served): number {
  const stat = readFileSync(`/proc/${worker}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) / ticksASecond) * 1000;
}

/** Asks the probe of a process, over one connection. */
function probeAt(path: string): { state: Served['state']; end(): void } {
  const socket = createConnection(path);
  return {
    async state(asked = 'state') {
      socket.write(asked);
      let line = '';
      while (!line.endsWith('\n')) line += String((await once(socket, 'data'))[0]);
      return JSON.parse(line);
    },
    end: () => socket.destroy(),
  };
}

/**
 * Starts a server over the market in `given`, usually `SAMPLE_DATA`; without it one is brought first, which takes some
 * minutes. `tree`: the folder of another commit's files.
 */
export async function serveSample(
  given = process.env.SAMPLE_DATA,
  tree = resolve(import.meta.dirname, '..'),
): Promise<Served> {
  const dataDir = given ?? mkdtempSync(join(tmpdir(), 'tapegraph-sample-'));
  const main = join(tree, 'src/main.ts');
  const probe = join(tmpdir(), `tapegraph-probe-${randomUUID()}.sock`);
  const env = {
    ...process.env,
    TAPEGRAPH_DATA: dataDir,
    DATABASE_URL: '',
    REDIS_URL: '',
    LOG_LEVEL: 'error',
    RATE_PRO: '1000000',
    SESSION_SECRET: 'a secret of a measurement, long enough',
    METRICS_TOKEN: metricsToken,
  };
  // As an operator runs it: the launcher sets the limits of its memory.
  const launcher = join(tree, 'bin/tapegraph.mjs');
  const options = ['--expose-gc', '--import', pathToFileURL(join(import.meta.dirname, 'process-probe.ts')).href];
  const clock = given === undefined ? bringingClock : broughtClock;
  const args = [...options, launcher, 'serve', '--sample', '--port', '0', '--clock', clock, '--json'];
  const child = spawn(process.execPath, args, {
    env: { ...env, PROCESS_PROBE: probe },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  const { url, workers } = JSON.parse(String(line));
  await untilLoaded(url);
  const run = (...args: string[]) => execFileSync(process.execPath, [main, ...args], { env, encoding: 'utf8' });
  const session = (account: string) => {
    run('account', 'set', account, '--site-tier', 'pro', '--api-tier', 'pro', '--classification', 'non_professional');
    return JSON.parse(run('session', 'create', '--account', account, '--json')).token as string;
  };
  const { state, end } = probeAt(probe);
  return {
    child,
    worker: workers[0],
    url,
    token: session('greedy'),
    lightToken: session('light'),
    senders: [session('sender-1'), session('sender-2')],
    state,
    async close() {
      end();
      child.kill('SIGTERM');
      await once(child, 'exit');
      rmSync(probe, { force: true });
      if (given === undefined) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
