import { sourceColumns } from '../../../core/domain/chain/chain-columns.ts';
import { contractId, type OptionContract, readOptionContract } from '../../../core/domain/chain/option-contract.ts';
import { isDate } from '../../../core/domain/market-time.ts';
import { dayMs, minuteMs } from '../../../platform/runtime/clock.ts';
import { readIndexTicker, readVendorTicker } from '../text/vendor-ticker.ts';
import type { Format } from './format.ts';

/*
 * Types and functions for the vendors' files in src/intake/tape/vendors. Rows are read as the CSV of the same rows, as
 * Parquet is: every dataset reads them with the checks and reasons that it has for CSV. Row n of a file is line n + 1.
 * Chains are read as contracts.
 */

/** Thrown for a vendor's file that cannot be read; the message is the reason and names the field. */
export class VendorError extends Error {
  override readonly name = 'VendorError';
}

/** A page of JSON. Numbers in it are their digits. */
export type Page = Readonly<Record<string, unknown>>;

/** A file of JSON pages being read, from the first to the last. */
export interface PageReader<Item> {
  /** The items of a page. Throws `VendorError`. */
  items(page: Page): Iterable<Item>;
  /** Called after the last page. Throws `VendorError` if there should be more. */
  end?(): void;
}

/** Cells of a row: text, a number, or a list of these; null and undefined are blank. */
export type Row = readonly unknown[];

/** A CSV being read, from its first line below the header to its last. */
export interface LineReader {
  /** The row of a line, or null for a line without one. Throws `VendorError`. */
  row(cells: readonly string[]): Row | null;
  /** Called after the last line. Throws `VendorError`. */
  end?(): void;
}

/** Reads a format as the CSV of a dataset's own format. */
export interface RowReading {
  /** Header of that CSV. */
  columns: readonly string[];
  /** Opens a file of JSON; absent = it is none. `name`: the file's base name. */
  pages?(name: string): PageReader<Row>;
  /** Opens a file of CSV; absent = it is none. `at`: index of a column by its name, −1 if absent. */
  lines?(name: string, at: (column: string) => number): LineReader;
}

/** Name of a source's number of a contract. */
export type SourceName = keyof typeof sourceColumns;
export const sourceNames = Object.keys(sourceColumns) as SourceName[];

/** A contract of a chain. Numbers are as written; absent, null or blank = unknown. */
export interface ChainPart {
  /** OSI symbol, as written. */
  contract: string;
  numbers: Partial<Record<SourceName, unknown>>;
  /** Shares per contract; absent = those of the root. */
  shares?: unknown;
  /** Instants of its quotes and trades, epoch ms; NaN = unknown. */
  times: readonly number[];
  /** Price of the underlying and its time, epoch ms. */
  spot?: { price: unknown; tsMs: number };
}

/** The contracts of a line or result, or the reason why it is invalid. */
export type ChainItem = readonly ChainPart[] | string;

/** Reads a format as contracts of chains. A chain has no time of its own: it is of the newest in it. */
export interface ChainReading {
  /** Opens a file of JSON; absent = it is none. */
  pages?(): PageReader<ChainItem>;
  /** Reads a line of CSV; absent = it is none. `cell`: trimmed, by its column; undefined for an absent one. */
  line?(cell: (column: string) => string | undefined): ChainItem;
}

/** A vendor's format: its description, and the reading of its files; without one, `Encoding` reads them. */
export interface VendorFormat extends Format {
  rows?: RowReading;
  chain?: ChainReading;
}

/** The beginning of a file. */
export interface Beginning {
  bytes: Buffer;
  isJson: boolean;
  /** True if it has these names: keys of JSON, or columns of a header in either case. */
  has(names: readonly string[]): boolean;
}

/** Files of a vendor that are neither JSON pages nor CSV, or CSV inside of JSON. */
export interface Encoding {
  isOf(beginning: Beginning): boolean;
  /** The CSV of one of the vendor's formats, or of a dataset's own. Throws `VendorError`. */
  csv(source: AsyncIterable<Buffer>, name: string): AsyncIterable<Buffer>;
}

/** A vendor. A file of src/intake/tape/vendors exports one by its own name; `npm run generate` lists it. */
export interface Vendor {
  formats: readonly VendorFormat[];
  /** Absent = all its files are JSON pages or CSV. */
  encoding?: Encoding;
}

/** A value of JSON in the form shown in a reason. */
export const shownValue = (value: unknown) => JSON.stringify(value)?.slice(0, 60) ?? 'nothing';

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

const longerMs = 5 * minuteMs;
const enough = 10;

/** Checks that bars of a format which does not state their length are minutes or days. */
export class BarSpacing {
  #count = 0;
  #misfits = 0;
  #lastMs = Number.NaN;
  #closest = Number.POSITIVE_INFINITY;

  /** Adds a bar's start, epoch ms. */
  add(tsMs: number): void {
    this.#count++;
    if (tsMs % longerMs !== 0) this.#misfits++;
    const step = Math.abs(tsMs - this.#lastMs);
    if (step > 0 && step < this.#closest) this.#closest = step;
    this.#lastMs = tsMs;
  }

  /** Throws `VendorError` if all start at five minutes, less than a day apart. Ten minutes do so once in 10^7 files. */
  check(): void {
    // A day with a change of clocks has 23 hours.
    if (this.#count < enough || this.#misfits > 0 || this.#closest > dayMs - 2 * 60 * minuteMs) return;
    throw new VendorError(
      `all ${this.#count} bars start at multiples of five minutes: expected bars of a minute or of a day`,
    );
  }
}

/** Words for a contract as a vendor writes them in cells of their own. */
export interface ContractCells {
  root: string;
  /** `YYYY-MM-DD` or `YYYYMMDD`. */
  expiry: string;
  /** Thousandths of a dollar. */
  strike: number;
  /** `C`, `CALL`, `P` or `PUT`, in either case. */
  right: string;
}

const largestStrike = 99_999_999;

/** The contract of such cells; null if one of them is invalid. */
export function contractOfCells({ root, expiry, strike, right }: ContractCells): OptionContract | null {
  const date = expiry.replace(/^(\d{4})(\d{2})(\d{2})$/, '$1-$2-$3');
  const side = /^(?:(c|call)|p|put)$/i.exec(right);
  const isStrike = Number.isInteger(strike) && strike > 0 && strike <= largestStrike;
  if (!/^[A-Z0-9]{1,6}$/.test(root) || !isDate(date) || !isStrike || !side) return null;
  return { root, expiry: date, right: side[1] ? 'call' : 'put', strike };
}

/** `O:` and the OSI symbol of such cells; the cells themselves if there is none, for the check of the column. */
export function tickerOfCells(cells: ContractCells): string {
  const contract = contractOfCells(cells);
  return contract ? contractId(contract) : `${cells.root} ${cells.expiry} ${cells.right} ${cells.strike}`;
}

const endings = /(?:\.(?:json|ndjson|jsonl|csv|txt|parquet))?(?:\.(?:gz|zst))?$/i;

/**
 * The ticker that begins a file's name: `BRK.B.json`, `SPY_2024-12-03.csv.gz`; `O:` and the OSI symbol for a contract.
 * For formats whose rows do not name it. Throws `VendorError`.
 */
export function statedTicker(name: string): string {
  const text = name.replace(endings, '').split(/[_ ]/)[0]!;
  const contract = readOptionContract(text);
  if (contract) return contractId(contract);
  if (readVendorTicker(text) !== null || readIndexTicker(text) !== null) return text;
  throw new VendorError(
    `the file does not contain its ticker: begin its name with it, such as BRK.B.json or SPY241220C00600000_1.json`,
  );
}
