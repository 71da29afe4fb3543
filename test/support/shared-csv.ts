import { readdirSync, readFileSync } from 'node:fs';
import { sharedData } from './shared-data.ts';

/** The names of the files in a folder of the real data, in order. */
export function sharedFiles(folder: string): string[] {
  return readdirSync(sharedData(folder)).sort();
}

/** The text of a real file. */
export function sharedText(path: string): string {
  return readFileSync(sharedData(path), 'utf8');
}

/** A real CSV without quoting, as one record a line keyed by its header; a column without a name is `time`. */
export function sharedCsv(path: string): Record<string, string>[] {
  const [header, ...lines] = sharedText(path).trim().split(/\r?\n/);
  const columns = header!.split(',');
  return lines.map((line) => Object.fromEntries(line.split(',').map((value, i) => [columns[i] || 'time', value])));
}
