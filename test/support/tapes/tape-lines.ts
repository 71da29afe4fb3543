import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { instantBounds } from '../../../src/core/domain/instant-gate.ts';
import type { BadLine, OnBadLine } from '../../../src/intake/tape/csv/tape-file.ts';

/** Bounds of a clock after every instant in the tests' files. */
export const wideBounds = instantBounds(Date.UTC(2100, 0));

/** Writes lines as a vendor file in `folder`; gives its path. */
export function vendorFile(folder: string, name: string, lines: readonly string[]): string {
  const path = join(folder, name);
  const text = `${lines.join('\n')}\n`;
  writeFileSync(path, name.endsWith('.gz') ? gzipSync(text) : text);
  return path;
}

/** Everything a reader of batches gives, and its bad lines as `line: reason`. */
export async function allOf<T>(
  read: (onBadLine: OnBadLine) => AsyncIterable<readonly T[]>,
): Promise<{ records: T[]; bad: string[] }> {
  const bad: string[] = [];
  const records: T[] = [];
  for await (const batch of read((line: BadLine) => bad.push(`${line.line}: ${line.reason}`))) records.push(...batch);
  return { records, bad };
}
