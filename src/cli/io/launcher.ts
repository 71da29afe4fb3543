import { readFileSync } from 'node:fs';

/** Interval at which the launcher's existence is checked, ms. */
const lookEveryMs = 250;

/** Properties of this process that show how it was launched. */
interface Launched {
  env: Record<string, string | undefined>;
  /** Id of the parent process; another one's once the parent has ended. */
  readonly ppid: number;
}

/** The parent of a process; null if it has ended, or the system has no /proc. */
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

/** The ancestors of this process that are its launcher: npm and its shell, or an older Node. */
function launcherOf({ env, ppid }: Launched): { parent: number; above: number | null } | null {
  const { npm_lifecycle_script: script, TAPEGRAPH_LAUNCHER: olderNode } = env;
  if (olderNode === String(ppid)) return { parent: ppid, above: null };
  if (!script?.includes('bin/tapegraph.mjs')) return null;
  // Some shells replace themselves with the last command: then the parent is npm itself.
  return { parent: ppid, above: runs(ppid, script) ? parentOf(ppid) : null };
}

/**
 * Calls `ended` once npm, npm's script shell, or the older Node that started this process has ended. npm passes a
 * signal to that shell only, which ends without passing it on; and SIGKILL cannot be passed on. A program launched in
 * another way continues when its parent ends. Windows does not report that a parent has ended: there a console's Ctrl-C
 * reaches all its processes.
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
