import { glob, stat } from 'node:fs/promises';
import { resolve } from 'node:path';

/** Thrown for a file name or pattern without a file. */
export class NoSuchFileError extends Error {
  override readonly name = 'NoSuchFileError';
}

/**
 * Expands names and patterns (`data/*.csv.gz`) to absolute paths without duplicates, in the given order and ascending
 * within a pattern. A name that exists is taken literally, even if it contains pattern characters. Throws for a name or
 * pattern without a file.
 */
export async function expandPatterns(patterns: readonly string[]): Promise<string[]> {
  const files = new Set<string>();
  for (const pattern of patterns) {
    const exact = await stat(pattern).catch(() => null);
    if (exact?.isFile()) {
      files.add(resolve(pattern));
      continue;
    }
    if (exact?.isDirectory())
      throw new NoSuchFileError(
        `${pattern} is a folder: name files in it, such as ${pattern.replace(/\/$/, '')}/*.csv.gz`,
      );
    const found: string[] = [];
    for await (const path of glob(pattern)) if ((await stat(path)).isFile()) found.push(resolve(path));
    if (found.length === 0) throw new NoSuchFileError(`${pattern}: no such file`);
    for (const path of found.sort()) files.add(path);
  }
  return [...files];
}
