import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

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
