import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** What a command left behind. */
export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Starts `tapegraph` as a child process with nothing of the surrounding environment but PATH and `env`. */
export function start(
  args: readonly string[],
  env: Record<string, string> = {},
): { child: ChildProcess; ended: Promise<Ran> } {
  const child = spawn(process.execPath, [main, ...args], {
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...env },
  });
  const ran: Ran = { code: null, stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => {
    ran.stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    ran.stderr += chunk;
  });
  const ended = new Promise<Ran>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ ...ran, code }));
  });
  return { child, ended };
}

/** Runs `tapegraph` as a child process to its end. */
export function tapegraph(args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  return start(args, env).ended;
}
