import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { processExists } from '../../../platform/runtime/folders.ts';

/** Runs `work` while no other process exports to the folder. The lock of a killed process is taken over. */
export async function withFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const file = join(folder, '.export.lock');
  const take = () => writeFile(file, String(process.pid), { flag: 'wx' });
  try {
    await take();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const owner = Number(await readFile(file, 'utf8'));
    if (owner > 0 && processExists(owner)) throw new Error(`process ${owner} exports to ${folder} now`);
    await rm(file, { force: true });
    await take();
  }
  try {
    return await work();
  } finally {
    await rm(file, { force: true });
  }
}
