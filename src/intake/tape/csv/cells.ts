import { readTicker } from '../../../core/domain/market/ticker.ts';
import { isDate, type SessionDate } from '../../../core/domain/market-time.ts';
import { spellings } from '../formats/format.ts';
import type { ColumnIndex } from './csv.ts';
import { shown } from './values.ts';

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
