import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('store-program.ts', import.meta.url));

/** A running `store-program.ts`. */
export interface StoreProcess {
  child: ChildProcess;
  /** Its output so far, by line. */
  lines: string[];
  /** Waits for a line that begins so; throws with all output when the process ends first. */
  until(start: string): Promise<string>;
  /** Waits for its end: the exit code, or the signal's name. */
  end(): Promise<number | string>;
}

export type StoreProcessMode = 'visit' | 'stay' | 'write';

/** Starts a process that uses the embedded store of `dataDir`; `as` = a user to be (only root may choose). */
export function storeProcess(
  dataDir: string,
  mode: StoreProcessMode,
  as: { uid?: number; gid?: number; script?: string } = {},
): StoreProcess {
  const { script = program, ...user } = as;
  const { NODE_COMPILE_CACHE } = process.env;
  const env = { PATH: '/usr/bin:/bin', NODE_COMPILE_CACHE };
  const child = spawn(process.execPath, [script, dataDir, mode], { ...user, cwd: '/', env });
  const lines: string[] = [];
  let errors = '';
  let rest = '';
  let failed = false;
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const each of waiting) each();
  };
  child.stderr.on('data', (data) => {
    errors += data;
  });
  child.stdout.on('data', (data) => {
    const parts = (rest + data).split('\n');
    rest = parts.pop()!;
    lines.push(...parts);
    wake();
  });
  const ended = new Promise<number | string>((resolve) => {
    child.on('error', (error) => {
      errors += error.message;
      failed = true;
      resolve('not started');
      wake();
    });
    child.on('close', (code, signal) => {
      resolve(code ?? signal ?? 'lost');
      wake();
    });
  });
  const until = (start: string) =>
    new Promise<string>((resolve, reject) => {
      const look = () => {
        const found = lines.find((line) => line.startsWith(start));
        const over = failed || child.exitCode !== null || child.signalCode !== null;
        if (found === undefined && !over) return;
        waiting.delete(look);
        if (found !== undefined) resolve(found);
        else reject(new Error(`ended before "${start}": ${lines.slice(-5).join(' | ')}\n${errors}`));
      };
      waiting.add(look);
      look();
    });
  return { child, lines, until, end: () => ended };
}
