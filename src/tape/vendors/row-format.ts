import type { Format } from '../formats/format.ts';

/*
 * Vendors' formats as the CSV of the same rows, as Parquet is: every dataset reads them with the checks and reasons
 * that it has for CSV. Row n of a file is line n + 1.
 */

/** Thrown for a vendor's file that cannot be read; the message is the reason and names the field. */
export class VendorError extends Error {
  override readonly name = 'VendorError';
}

/** Cells of a row: text, a number, or a list of these; null and undefined are blank. */
export type Row = readonly unknown[];

/** A file being read, from its first page to its last. */
export interface PageReader {
  /** The rows of a page. Numbers in it are their digits. Throws `VendorError`. */
  rows(page: Readonly<Record<string, unknown>>): Iterable<Row>;
  /** Called after the last page. Throws `VendorError` if there should be more. */
  end(): void;
}

/** A CSV being read, from its first line below the header to its last. */
export interface LineReader {
  /** The row of a line, or null for a line without one. Throws `VendorError`. */
  row(cells: readonly string[]): Row | null;
  /** Called after the last line. Throws `VendorError`. */
  end?(): void;
}

/** Translation of a vendor's format to CSV. */
export interface RowFormat {
  format: Format;
  /** Names of the datasets' own formats whose rows it has. */
  as: readonly string[];
  /** Header of the CSV. */
  columns: readonly string[];
  /** Opens a file of JSON pages; absent for CSV. `name`: the file's base name. */
  pages?(name: string): PageReader;
  /** Opens a file of CSV; absent for JSON. `at`: index of a column by its name, −1 if absent. */
  lines?(name: string, at: (column: string) => number): LineReader;
}

const quotable = /[",\r\n]/;

/** The text of a cell; lists have the form of the vendor's CSV, in quotes: "12,37". */
function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = Array.isArray(value) ? value.join(',') : typeof value === 'object' ? JSON.stringify(value) : `${value}`;
  return quotable.test(text) ? `"${text.replaceAll('"', '""').replace(/[\r\n]+/g, ' ')}"` : text;
}

/** The line of a row, with its end. */
export function lineOf(row: Row): string {
  return `${row.map(cellText).join(',')}\n`;
}
