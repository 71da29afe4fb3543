import { readFileSync } from 'node:fs';

/** Interval at which the launcher is looked for, ms. */
const lookEveryMs = 250;

/** Properties of this process that show how it was launched. */
interface Launched {
  env: Record<string, string | undefined>;
  /** Id of the parent process; another one's once the parent has ended. */
  readonly ppid: number;
}

/** The parent of a process; null when it has ended, or the system has no /proc. */
function parentOf(pid: number): number | null {
  try {
    // State and parent follow the name, which is in parentheses.
    return Number(readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)!.split(' ')[1]);
  } catch {
    return null;
  }
}

function runs(pid: number, script: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(script);
  } catch {
    return false;
  }
}

/** The processes above this one, as far as they are its launcher: npm's shell and npm, or an older Node. */
function launcherOf({ env, ppid }: Launched): { parent: number; above: number | null } | null {
  const { npm_lifecycle_script: script, TAPEGRAPH_LAUNCHER: olderNode } = env;
  if (olderNode === String(ppid)) return { parent: ppid, above: null };
  if (!script?.includes('bin/tapegraph.mjs')) return null;
  // Some shells leave their process to the last command: then the parent is npm itself.
  return { parent: ppid, above: runs(ppid, script) ? parentOf(ppid) : null };
}

/**
 * Calls `ended` once npm, the shell in which npm runs a script, or the older Node that handed over has ended. npm
 * passes a signal to that shell alone, which ends without passing it on; and nobody can pass SIGKILL on. A program that
 * was launched in another way goes on when its parent ends. Windows does not show that a parent has ended: there a
 * console's Ctrl-C reaches all its processes.
 */
export function whenLauncherEnds(launched: Launched, ended: () => void): void {
  const launcher = launcherOf(launched);
  if (launcher === null) return;
  const { parent, above } = launcher;
  const timer = setInterval(() => {
    if (launched.ppid === parent && (above === null || parentOf(parent) === above)) return;
    clearInterval(timer);
    ended();
  }, lookEveryMs);
  timer.unref();
}
