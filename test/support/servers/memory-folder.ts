import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const inMemory = '/dev/shm';
export const isInMemory = (folder: string) => folder === inMemory;
/** Room that a run must find, bytes. */
const roomBytes = 4 * 1024 ** 3;

/**
 * The folder for a run's temporary files: one in memory if there is room, else the system's. A database is some 300
 * files, and a run makes hundreds of them: of that, finding free inodes on a disk would be most of the work.
 */
export function memoryFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(inMemory);
    return Math.min(bavail * bsize, process.availableMemory()) >= roomBytes ? inMemory : tmpdir();
  } catch {
    return tmpdir();
  }
}
