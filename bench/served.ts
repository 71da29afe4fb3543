import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../bin/tapegraph.mjs', import.meta.url));

/** A server in a process of its own. */
export interface Served {
  child: ChildProcess;
  exit: Promise<unknown>;
  url: string;
  port: number;
  /** The sample market's key. */
  key?: string;
  /** Process ids of its workers. */
  workers: number[];
  /** Its log output so far. */
  log: () => string;
  /** From its start until it answered `/readyz` with 200, ms. */
  readyMs: number;
  /** The CPU time that it and its workers had taken by then, ms. */
  readyCpuMs: number;
}

/** The CPU time of a process, ms; Linux only. */
export function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`).then(
    ({ status }) => status === 200,
    () => false,
  );
}

/** Starts what `npm start` starts, on any port; resolves when it is ready. */
export async function served(dataDir: string, env: Record<string, string>, args: string[] = []): Promise<Served> {
  const startedMs = performance.now();
  const child = spawn(process.execPath, [program, 'serve', '--port', '0', '--json', ...args], {
    env: { PATH: process.env.PATH, TAPEGRAPH_DATA: dataDir, ...env } as NodeJS.ProcessEnv,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  child.stderr!.on('data', (chunk) => {
    log += chunk;
  });
  const exit = once(child, 'exit');
  const [first] = await Promise.race([
    once(child.stdout!, 'data'),
    exit.then(() => Promise.reject(new Error(`the server ended: ${log}`))),
  ]);
  const said = JSON.parse(String(first)) as Pick<Served, 'url' | 'port' | 'key' | 'workers'>;
  const isOver = () => said.url === undefined || child.exitCode !== null;
  while (!(await isReady(said.url))) if (isOver()) throw new Error(`the server ended: ${log}`);
  const readyMs = performance.now() - startedMs;
  const readyCpuMs = [child.pid!, ...said.workers].reduce((sum, pid) => sum + cpuOf(pid), 0);
  return { child, exit, ...said, log: () => log, readyMs, readyCpuMs };
}

/** The middle and the highest of some times, for people. */
export function worst(timesMs: readonly number[]): string {
  const sorted = timesMs.toSorted((a, b) => a - b);
  const shown = (ms: number) => `${(ms / 1000).toFixed(2)} s`;
  return `${shown(sorted[sorted.length >> 1]!)} (worst ${shown(sorted.at(-1)!)})`;
}
