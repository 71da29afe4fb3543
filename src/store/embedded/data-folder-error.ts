import { storeError } from '../rows/store-error.ts';

// The system's words for what does not pass by itself; those of a program of PostgreSQL, which runs with LC_ALL=C.
const lasting =
  /No space left on device|Read-only file system|Permission denied|Disk quota exceeded|Not a directory|Input\/output error/;

/** True if the output of a program of PostgreSQL shows that its folder cannot be used, now or later. */
export function isLasting(said: string): boolean {
  return lasting.test(said);
}

/** Why the data folder cannot be used, and which setting to change. */
export function dataFolderError(dataDir: string, why: string, cause?: unknown): Error {
  return storeError(
    `TAPEGRAPH_DATA: the folder ${dataDir} cannot be used: ${why}. ` +
      'Choose a folder on a disk with free space that this user can write, with TAPEGRAPH_DATA or --data, or set DATABASE_URL to a PostgreSQL server.',
    cause,
  );
}

/** `error` as it is, or if it is the file system's, with the setting that it comes from. */
export function namingDataFolder(dataDir: string, error: unknown): unknown {
  const { code, path, message } = error as NodeJS.ErrnoException;
  return code === undefined || path === undefined ? error : dataFolderError(dataDir, message, error);
}
