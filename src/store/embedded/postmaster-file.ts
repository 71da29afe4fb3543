import { existsSync, readFileSync, readlinkSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { processExists } from '../../platform/runtime/folders.ts';

/** Properties of a running (or crashed) PostgreSQL in `postmaster.pid`. */
export interface Postmaster {
  pid: number;
  /** The data folder of the server that wrote it: another one if the folder is a copy. */
  dataDir: string;
  /** Port; on Unix only part of the socket's name. */
  port: number;
  /** Folder of its Unix socket; empty on Windows and while unknown. */
  socketDir: string;
  /** Content of the file, to recognize it again. */
  text: string;
}

/** Reads `postmaster.pid` of a cluster; null if there is none, or it is incomplete. */
export function readPostmaster(cluster: string): Postmaster | null {
  return readLock(join(cluster, 'postmaster.pid'));
}

function readLock(path: string): Postmaster | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  // Lines: pid, data folder, start time, port, socket folder, listen address, shared memory key, status.
  const [pid, dataDir, , port, socketDir] = text.split('\n');
  if (!Number(pid)) return null;
  return { pid: Number(pid), dataDir: dataDir ?? '', port: Number(port ?? 0), socketDir: socketDir ?? '', text };
}

/** True if two paths lead to one folder. */
function isSameFolder(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }));
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino;
}

/**
 * The cluster from which this one was copied while its server ran, by the file that came with it; null if it is no such
 * copy. A folder that was moved is none: there is nothing left where it was.
 */
export function copiedFrom({ dataDir }: Postmaster, cluster: string): string | null {
  const isThere = dataDir !== '' && existsSync(join(dataDir, 'PG_VERSION'));
  return isThere && !isSameFolder(dataDir, cluster) ? dataDir : null;
}

/** True if the process that wrote the file is still this cluster's server, not another one with the same number. */
export function isRunning({ pid }: Postmaster, cluster: string): boolean {
  if (!processExists(pid)) return false;
  if (process.platform !== 'linux') return true;
  try {
    // The state follows the name, which is in parentheses; a zombie has ended and is not reaped yet.
    const state = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.[0];
    if (state === 'Z' || state === 'X') return false;
    if (readFileSync(`/proc/${pid}/comm`, 'utf8').trim() !== 'postgres') return false;
  } catch {
    return false;
  }
  try {
    // A server's working directory is its data folder. Only its own user (and root) may read that.
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(cluster);
  } catch {
    return true;
  }
}

/**
 * Removes lock files (`postmaster.pid` and the socket's) left by a crash. The server does so itself, except if the
 * process number now belongs to another process (after a reboot, in a container) or to a zombie: then it does not
 * start.
 */
export function removeStaleLocks(cluster: string, socketDir: string): void {
  for (const path of [join(cluster, 'postmaster.pid'), join(socketDir, '.s.PGSQL.5432.lock')]) {
    const lock = readLock(path);
    if (lock === null || isRunning(lock, cluster)) continue;
    const aside = `${path}.stale-${process.pid}`;
    try {
      renameSync(path, aside);
    } catch {
      continue;
    }
    // A file that another starter wrote in the meantime is restored.
    if (readFileSync(aside, 'utf8') === lock.text) rmSync(aside);
    else renameSync(aside, path);
  }
}
