import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { untilLoaded } from '../scripts/own-gateway.ts';

const clock = '2026-11-20T07:30:00-05:00';
const ticksASecond = 100;

/** A server over the sample market, in a process of its own. */
export interface Served {
  child: ChildProcess;
  url: string;
  /** A session of a pro, attested account whose minute has a million requests. */
  token: string;
  close(): Promise<void>;
}

/** CPU time of a server's process, ms; the database's is not in it. */
export function cpuMsOf({ child }: Served): number {
  const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) / ticksASecond) * 1000;
}

/** Resident memory of a server's process, MB. */
export function rssMbOf({ child }: Served): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024;
}

/** Starts a server over the market in `SAMPLE_DATA`; without it one is brought first, which takes some minutes. */
export async function serveSample(): Promise<Served> {
  const given = process.env.SAMPLE_DATA;
  const dataDir = given ?? mkdtempSync(join(tmpdir(), 'tapegraph-sample-'));
  const main = join(import.meta.dirname, '../src/main.ts');
  const env = {
    ...process.env,
    TAPEGRAPH_DATA: dataDir,
    DATABASE_URL: '',
    REDIS_URL: '',
    LOG_LEVEL: 'error',
    RATE_PRO: '1000000',
    SESSION_SECRET: 'a secret of a measurement, long enough',
  };
  const child = spawn(process.execPath, [main, 'serve', '--sample', '--port', '0', '--clock', clock, '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  const { url } = JSON.parse(String(line));
  await untilLoaded(url);
  const run = (...args: string[]) => execFileSync(process.execPath, [main, ...args], { env, encoding: 'utf8' });
  run('account', 'set', 'greedy', '--site-tier', 'pro', '--api-tier', 'pro', '--classification', 'non_professional');
  const { token } = JSON.parse(run('session', 'create', '--account', 'greedy', '--json'));
  return {
    child,
    url,
    token,
    async close() {
      child.kill('SIGTERM');
      await once(child, 'exit');
      if (given === undefined) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
