import { type ChildProcess, spawn } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { run } from '../../src/cli/run.ts';

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** The launcher that `npm start` and the container run. */
export const launcher = fileURLToPath(new URL('../../bin/tapegraph.mjs', import.meta.url));

/** Exit code and output of a command. */
export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env;

/** Variables of the surrounding environment that processes of tests are given. */
export const surrounding = { PATH, HOME, NODE_COMPILE_CACHE };

/** Starts `tapegraph` as a child process with nothing of the surrounding environment but PATH and `env`. */
export function start(
  args: readonly string[],
  env: Record<string, string> = {},
  program = main,
): { child: ChildProcess; ended: Promise<Ran> } {
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...surrounding, ...env },
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

/**
 * Runs `tapegraph` as a child process to its end: what only a process shows (its exit code, whatever else it prints).
 */
export function tapegraphProcess(args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  return start(args, env).ended;
}

/**
 * Runs a command line in this process, which takes a tenth of the time. It sees nothing of the environment but `env`,
 * and reads `input`.
 */
export async function tapegraph(
  args: readonly string[],
  env: Record<string, string> = {},
  { now = Date.now, input = '' }: { now?: () => number; input?: string } = {},
): Promise<Ran> {
  const written = { stdout: '', stderr: '' };
  const into = (name: keyof typeof written) =>
    new Writable({
      write(chunk, _encoding, done) {
        written[name] += chunk;
        done();
      },
    });
  const interrupted = new AbortController().signal;
  const stdin = () => Readable.from([Buffer.from(input)]);
  const terminal = { env, now, stdin, stdout: into('stdout'), stderr: into('stderr'), interrupted };
  return { code: await run(args, terminal), ...written };
}
