import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function makeFolder(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process created it first.
    if (!isFolder(path)) throw error;
  }
}

/**
 * Creates a folder and its missing parents. Node's recursive `mkdir` never returns for a folder that cannot be created
 * below an existing one, such as in `/proc`; this throws the system's error.
 */
export function makeFolders(path: string, mode = 0o777): void {
  if (isFolder(path)) return;
  const above = dirname(path);
  if (above !== path) makeFolders(above, mode);
  makeFolder(path, mode);
}

/*
 * Temporary folders have their owner in their names, so that those of a killed process are found: host, process id, and
 * start of the process, since ids are given again.
 */

const pattern = /^tapegraph-(?:object|sort)-(.+)-(\d+)-(\d+)-\w{6}$/;

const host = encodeURIComponent(hostname());

/** True if this host has a process of the id, of whatever user. */
export function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user cannot be signalled, but exists.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/**
 * Start time of a process of this host, in the kernel's ticks; 0 if the kernel does not report it; null = no such
 * process.
 */
function beginningOf(pid: number): string | null {
  if (!processExists(pid)) return null;
  try {
    // Fields are counted after the program's name, which may contain anything.
    const behindName = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '');
    return behindName.split(' ')[19] ?? '0';
  } catch {
    return '0';
  }
}

/** Creates an empty folder of this process in `parent`, for objects or for sorting. Its creator removes it. */
export function temporaryFolder(kind: 'object' | 'sort', parent: string): Promise<string> {
  const { pid } = process;
  return mkdtemp(join(parent, `tapegraph-${kind}-${host}-${pid}-${beginningOf(pid)}-`));
}

/**
 * Removes the temporary folders of this host's processes that ended without removing them, because they were killed.
 * Folders that cannot be removed stay.
 */
export async function removeAbandonedFolders(parent = tmpdir()): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    const [, madeOn, pid, beginning] = pattern.exec(name) ?? [];
    if (madeOn !== host || beginningOf(Number(pid)) === beginning) continue;
    await rm(join(parent, name), { recursive: true, force: true }).catch(() => {});
  }
}
