import { storeError } from '../rows/store-error.ts';

// The system's messages for permanent errors; those of PostgreSQL's programs, which run with LC_ALL=C.
const lasting =
  /No space left on device|Read-only file system|Permission denied|Disk quota exceeded|Not a directory|Input\/output error/;

/** True if the output of a program of PostgreSQL shows that its folder is permanently unusable. */
export function isLasting(said: string): boolean {
  return lasting.test(said);
}

/** The error of an unusable data folder, which names the setting to change. */
export function dataFolderError(dataDir: string, why: string, cause?: unknown): Error {
  return storeError(
    `TAPEGRAPH_DATA: the folder ${dataDir} cannot be used: ${why}. ` +
      'Choose a folder on a disk with free space that this user can write, with TAPEGRAPH_DATA or --data, or set DATABASE_URL to a PostgreSQL server.',
    cause,
  );
}

/** `error` unchanged, or for a file system error, with the setting that its folder comes from. */
export function namingDataFolder(dataDir: string, error: unknown): unknown {
  const { code, path, message } = error as NodeJS.ErrnoException;
  return code === undefined || path === undefined ? error : dataFolderError(dataDir, message, error);
}
