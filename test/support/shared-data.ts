import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { notRunOutsideCi } from './not-run.ts';

// Real vendor files are beside the project and not part of it; without them, tests that read them are skipped.
/** The folder of the real vendor files. */
export const sharedDataFolder = resolve(
  process.env.TAPEGRAPH_SHARED_DATA ?? join(import.meta.dirname, '../../../shared/data'),
);

/** True if the real vendor files exist. */
export const hasSharedData = existsSync(join(sharedDataFolder, 'README.md'));

if (!hasSharedData)
  notRunOutsideCi(
    'tests on real vendor files',
    `${sharedDataFolder} is missing (TAPEGRAPH_SHARED_DATA names another folder)`,
  );

/** The path of a real vendor file. */
export function sharedData(path: string): string {
  return join(sharedDataFolder, path);
}
