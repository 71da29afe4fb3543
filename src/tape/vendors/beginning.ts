import type { Format } from '../formats/format.ts';
import { splitCsvLine } from '../text/csv-line.ts';

/** Number of bytes by which a file is recognized. */
export const headBytes = 64 * 1024;

/** The names by which a format is recognized: keys of JSON, or columns of a header in lower case. */
export interface Beginning {
  isJson: boolean;
  fits(format: Pick<Format, 'required'>): boolean;
}

/** Recognizes a file by its first bytes. */
export function beginningOf(bytes: Buffer): Beginning {
  const text = bytes.toString('utf8', 0, headBytes).replace(/^\ufeff/, '');
  if (/^\s*[{[]/.test(text)) {
    const keys = new Set(Array.from(text.matchAll(/"([^"\\]{1,40})"\s*:/g), ([, key]) => key!));
    return { isJson: true, fits: ({ required }) => required.every((key) => keys.has(key)) };
  }
  const names = (splitCsvLine(text.split(/\r?\n/, 1)[0]!) ?? []).map((name) => name.trim().toLowerCase());
  const fits = ({ required }: Pick<Format, 'required'>) => required.every((name) => names.includes(name.toLowerCase()));
  return { isJson: false, fits };
}
