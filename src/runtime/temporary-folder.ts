import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';

/*
 * Folders that say in their names whose they are, so that those of a process that was killed are found: host, process
 * id, and when the process began, since ids are given again.
 */

const pattern = /^tapegraph-(?:object|sort)-(.+)-(\d+)-(\d+)-\w{6}$/;

const host = encodeURIComponent(hostname());

/** When a process of this host began, in the kernel's ticks; 0 where the kernel does not say; null = there is none. */
function beginningOf(pid: number): string | null {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // One of another user may not be signalled, but is there.
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return null;
  }
  try {
    // Fields are counted behind the program's name, which may hold anything.
    const behindName = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '');
    return behindName.split(' ')[19] ?? '0';
  } catch {
    return '0';
  }
}

/** Makes an empty folder of this process in `parent`, for objects or for what is sorted. Its maker removes it. */
export function temporaryFolder(kind: 'object' | 'sort', parent: string): Promise<string> {
  const { pid } = process;
  return mkdtemp(join(parent, `tapegraph-${kind}-${host}-${pid}-${beginningOf(pid)}-`));
}

/**
 * Removes the temporary folders of this host's processes that have ended without removing them: they were killed. What
 * may not be removed stays.
 */
export async function removeAbandonedFolders(parent = tmpdir()): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    const [, madeOn, pid, beginning] = pattern.exec(name) ?? [];
    if (madeOn !== host || beginningOf(Number(pid)) === beginning) continue;
    await rm(join(parent, name), { recursive: true, force: true }).catch(() => {});
  }
}
