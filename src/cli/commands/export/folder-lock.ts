import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** True if a process of this machine has the id. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user cannot be signalled, but exists.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** Runs `work` while no other process exports to the folder. The lock of a killed process is taken over. */
export async function withFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const file = join(folder, '.export.lock');
  const take = () => writeFile(file, String(process.pid), { flag: 'wx' });
  try {
    await take();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const owner = Number(await readFile(file, 'utf8'));
    if (owner > 0 && isRunning(owner)) throw new Error(`process ${owner} exports to ${folder} now`);
    await rm(file, { force: true });
    await take();
  }
  try {
    return await work();
  } finally {
    await rm(file, { force: true });
  }
}
