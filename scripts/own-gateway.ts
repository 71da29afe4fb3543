// A gateway that a script starts for itself: its own data folder, accounts of every tier, and what its processes take.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

const main = join(import.meta.dirname, '..', 'src', 'main.ts');
/** The launcher that operators run: it holds the server to its memory limit, as src/main.ts alone does not. */
const launcher = join(import.meta.dirname, '..', 'bin', 'tapegraph.mjs');

/** A gateway in processes of its own. */
export interface OwnGateway {
  url: string;
  child: ChildProcess;
  /** Process ids of those that answer requests. */
  workers: number[];
  /** Null while it runs. */
  exit(): string | null;
  /** Ends it as SIGTERM does. */
  stop(): Promise<void>;
}

/** Settings of the gateway, and of the commands that speak of the same store. */
export type Settings = Record<string, string>;

function environment(settings: Settings): Record<string, string> {
  return { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...settings };
}

/** Runs one command and gives the JSON that it prints. */
export async function command(settings: Settings, ...args: string[]): Promise<Record<string, unknown>> {
  const child = spawn(process.execPath, [main, ...args, '--json'], {
    env: environment(settings),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  if (code !== 0) throw new Error(`tapegraph ${args.join(' ')} ended with ${code}: ${err.slice(-500)}`);
  return JSON.parse(out);
}

/** Interval at which a gateway is asked whether its market is loaded, ms. */
const askAgainMs = 500;

/**
 * Resolves when a gateway has loaded all of its sample market: it is announced when the latest session is stored.
 * Rejects when it ends before.
 */
export async function untilLoaded(url: string): Promise<void> {
  // A gateway whose database is away does not know what is missing.
  const isWhole = async () => !/"loading"|"degraded"/.test(await (await fetch(`${url}/healthz`)).text());
  while (!(await isWhole())) await delay(askAgainMs);
}

/**
 * Starts `serve` on a free port, its log into `logFile`, and waits until it takes requests, with all of its sample
 * market where it has one. `program`: another release's.
 */
export async function startGateway(
  settings: Settings,
  args: readonly string[],
  logFile: string,
  program = launcher,
): Promise<OwnGateway> {
  const log = openSync(logFile, 'a');
  const child = spawn(process.execPath, [program, 'serve', '--port', '0', '--json', ...args], {
    env: environment(settings),
    stdio: ['ignore', 'pipe', log],
  });
  closeSync(log);
  let exit: string | null = null;
  const ended = once(child, 'exit').then(([code, signal]) => {
    exit = signal ?? `code ${code}`;
  });
  const first = await Promise.race([once(child.stdout!, 'data'), ended]);
  if (!Array.isArray(first)) throw new Error(`the gateway ended with ${exit}; see ${logFile}`);
  const ready = JSON.parse(String(first[0])) as { url: string; pid: number; workers?: number[] };
  if (args.includes('--sample')) await untilLoaded(ready.url);
  return {
    url: ready.url,
    child,
    workers: ready.workers ?? [ready.pid],
    exit: () => exit,
    async stop() {
      if (exit === null) child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Resident memory of a process, bytes; null when it is gone, or where there is no /proc. */
export function residentBytes(pid: number): number | null {
  try {
    return 1024 * Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]);
  } catch {
    return null;
  }
}
