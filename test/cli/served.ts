import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { start } from './command-line.ts';

/** The line a server prints when it is ready. */
interface Ready {
  url: string;
  port: number;
  pid: number;
  /** Process ids of those that answer requests. */
  workers: number[];
  /** The sample market's. */
  key?: string;
}

/** A server in a process of its own that said it is ready, and what it said. It is gone when the test ends. */
export async function served(args: string[], env: Record<string, string>, program?: string) {
  const { child, ended } = start(['serve', '--port', '0', '--json', ...args], env, program);
  onTestFinished(() => void child.kill('SIGKILL'));
  let log = '';
  child.stderr!.on('data', (chunk) => {
    log += chunk;
  });
  const first = await Promise.race([once(child.stdout!, 'data'), ended]);
  if (!Array.isArray(first)) throw new Error(`the server ended: ${first.stderr}`);
  return {
    child,
    ended,
    /** Stderr up to now. */
    log: () => log,
    ready: JSON.parse(String(first[0])) as Ready,
  };
}
