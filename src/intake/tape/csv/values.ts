import {
  digitsBelowMs,
  expectedTime,
  type FineUnit,
  type InstantBounds,
  isWithin,
} from '../../../core/domain/instant-gate.ts';
import { readTicker } from '../../../core/domain/market/ticker.ts';
import { isDate, type SessionDate } from '../../../core/domain/market-time.ts';
import { spellings } from '../formats/format.ts';
import type { ColumnIndex } from './csv.ts';

function isDigitOrPoint(code: number): boolean {
  return (code >= 48 && code <= 57) || code === 46;
}

/**
 * A decimal number in vendors' notation (`1.5`, `-.25`, `3e-05`); NaN for everything else, including blank and `0x10`.
 */
export function readNumber(text: string): number {
  const first = text.charCodeAt(0);
  if (!(isDigitOrPoint(first) || first === 45) || !isDigitOrPoint(text.charCodeAt(text.length - 1))) return Number.NaN;
  // Only JavaScript accepts 0x, 0b and 0o.
  const second = text.charCodeAt(1) | 32;
  if (second === 120 || second === 98 || second === 111) return Number.NaN;
  const value = +text;
  return Number.isFinite(value) ? value : Number.NaN;
}

const grouped = /^[+\u2212-]?(?:\d+|[1-9]\d{0,2}(?:,\d{3})+)(?:\.\d+)?$/;

/**
 * A number in pages' notation: like `readNumber`, also with a plus or a typographic minus, and with thousands
 * separators before the point. NaN for everything else: a decimal comma is never guessed.
 */
export function readGroupedNumber(text: string): number {
  const plain = readNumber(text);
  if (!Number.isNaN(plain)) return plain;
  return grouped.test(text) ? +text.replace('\u2212', '-').replaceAll(',', '') : Number.NaN;
}

const blank = /^(?:|-+|n\/?a|nan|null)$/i;

/** True if a page writes this for no value: blank, `--`, `N/A`, `NaN`. */
export function isBlank(text: string): boolean {
  return blank.test(text);
}

/** Like `readNumber`, for whole numbers from 0 to 2^53. */
export function readCount(text: string): number {
  const value = readNumber(text);
  return Number.isSafeInteger(value) && value >= 0 ? value : Number.NaN;
}

const digits = /^\d+$/;

/** Epoch ms of a timestamp (the part below a millisecond is dropped); NaN if it is invalid or outside the bounds. */
export function readInstant(text: string, unit: FineUnit, bounds: InstantBounds): number {
  const ms = digits.test(text) ? +text.slice(0, text.length - digitsBelowMs[unit]) : Number.NaN;
  return isWithin(bounds, ms) ? ms : Number.NaN;
}

/** The reason why a text is not a timestamp within the bounds. */
export function problemOfInstant(text: string, unit: FineUnit, bounds: InstantBounds): string {
  const value = digits.test(text) ? +text : Number.NaN;
  return `expected ${expectedTime(value, unit, bounds)}, got ${shown(text)}`;
}

/** The expected times of a contract whose last session ends at `endMs`. */
export function beforeExpiry(endMs: number): string {
  return `a time before ${new Date(endMs).toISOString()}, the end of the contract's last session`;
}

/** A text in the form shown in the reason for a bad field. */
export function shown(text: string): string {
  return JSON.stringify(text.slice(0, 40));
}

/** Thrown for an invalid cell; the message is the reason of the bad line. */
class BadCell extends Error {}

/** The cells of a line by column, with the checks of their values. A failed check ends the reading of the line. */
export interface Cells<Column extends string> {
  text(name: Column): string;
  /** Returns the value. Throws if it is null, which means that the cell was not as expected. */
  checked<T>(name: Column, value: T | null, expected: string): T;
  ticker(name: Column): string;
  /** One of the words, in either case. Blank: `missing`, if given. */
  word<T extends string>(name: Column, words: readonly T[], missing?: T): T;
  flag(name: Column, missing: boolean): boolean;
  date(name: Column): SessionDate;
  /** Null if blank. */
  optionalDate(name: Column): SessionDate | null;
  /** Throws for a reason that concerns no single cell. */
  refuse(reason: string): never;
}

/** Creates a format's reader from a function that reads the cells of a line. The cell of an absent column is blank. */
export function cellReader<Column extends string, T>(read: (cells: Cells<Column>) => T) {
  return (at: ColumnIndex<Column>) => (fields: readonly string[]) =>
    readCells((name: Column) => (at[name] < 0 ? '' : fields[at[name]]!.trim()), read);
}

/** Reads a line's record from its cells. Returns the record, or the reason why a cell is invalid. */
function readCells<Column extends string, T>(
  text: (name: Column) => string,
  read: (cells: Cells<Column>) => T,
): T | string {
  function checked<V>(name: Column, value: V | null, expected: string): V {
    if (value === null) throw new BadCell(`${name}: expected ${expected}, got ${shown(text(name))}`);
    return value;
  }
  const refuse = (reason: string): never => {
    throw new BadCell(reason);
  };
  const date = (name: Column) => checked(name, isDate(text(name)) ? text(name) : null, 'a date YYYY-MM-DD');
  const cells: Cells<Column> = {
    text,
    checked,
    refuse,
    date,
    ticker: (name) => checked(name, readTicker(text(name)), spellings.ticker),
    word(name, words, missing) {
      const written = text(name).toLowerCase();
      const found = written === '' ? missing : words.find((word) => word === written);
      return checked(name, found ?? null, words.join(' or '));
    },
    flag(name, missing) {
      const written = text(name);
      const found = /^(?:true|1|yes)$/i.test(written) ? true : /^(?:false|0|no)$/i.test(written) ? false : null;
      return written === '' ? missing : checked(name, found, 'true or false');
    },
    optionalDate: (name) => (text(name) === '' ? null : date(name)),
  };
  try {
    return read(cells);
  } catch (error) {
    if (error instanceof BadCell) return error.message;
    throw error;
  }
}
