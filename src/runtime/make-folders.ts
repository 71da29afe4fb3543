import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function makeFolder(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process was quicker.
    if (!isFolder(path)) throw error;
  }
}

/**
 * Creates a folder and those above it that are missing. Node's recursive `mkdir` never returns for a folder that cannot
 * be created though the one above it exists, such as one in `/proc`; this throws the system's error.
 */
export function makeFolders(path: string, mode = 0o777): void {
  if (isFolder(path)) return;
  const above = dirname(path);
  if (above !== path) makeFolders(above, mode);
  makeFolder(path, mode);
}
