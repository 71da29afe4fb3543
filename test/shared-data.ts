import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const projectRoot = path.resolve(import.meta.dirname, '..');

/** The folder of real market data beside the project; `TAPEGRAPH_SHARED_DATA` names another. */
export const sharedDataDir = process.env.TAPEGRAPH_SHARED_DATA ?? path.resolve(projectRoot, '../shared/data');

/** False where the data is not: tests on it are then passed over, and say so by their skipped name. */
export const hasSharedData = existsSync(sharedDataDir);

/** The text of a shared file. */
export function sharedText(...parts: string[]): string {
  return readFileSync(path.join(sharedDataDir, ...parts), 'utf8');
}

/** The names of the files in a shared folder, in order. */
export function sharedFiles(folder: string): string[] {
  return readdirSync(path.join(sharedDataDir, folder)).sort();
}

/** A shared CSV without quoting, as one record a line keyed by its header. */
export function sharedCsv(...parts: string[]): Record<string, string>[] {
  const [header, ...lines] = sharedText(...parts)
    .trim()
    .split(/\r?\n/);
  const columns = header!.split(',');
  return lines.map((line) => Object.fromEntries(line.split(',').map((value, i) => [columns[i] || 'time', value])));
}
