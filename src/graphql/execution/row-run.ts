import {
  type GraphQLField,
  type GraphQLFieldResolver,
  GraphQLFloat,
  type GraphQLLeafType,
  getNullableType,
  isNonNullType,
  TypeNameMetaFieldDef,
} from 'graphql';
import { ColumnRows, type ColumnValues } from '../../platform/wire/column-rows.ts';
import { ByteWriter } from '../../platform/wire/json-byte-writer.ts';
import { WrittenJson } from '../../platform/wire/json-chunks.ts';
import { isAsItIs, isPromise } from './completed.ts';
import type { Position } from './leaf-tally.ts';
import type { Pieces } from './sliced-work.ts';

/**
 * Thrown for a row that only ordinary completion can answer: it has an error, a value that does not fit its type, a
 * null in a non-null field, or a promise.
 */
class NotPlain extends Error {}

function notPlain(): never {
  throw new NotPlain();
}

/** A field of an operation, as much of it as writing rows requires. */
interface RowField {
  key: string;
  name: string;
  definition: GraphQLField<unknown, unknown>;
  resolve: GraphQLFieldResolver<unknown, unknown> | undefined;
  position: Position;
  isOmitted: boolean;
}

/** A field of each row. */
export interface Column {
  field: RowField;
  /** Its index among the columns. */
  index: number;
  /** The key if it is first in a row: with a brace before it and a colon after it. */
  firstKey: Uint8Array;
  /** The key after others: with a comma before it. */
  laterKey: Uint8Array;
  resolve: ((row: unknown) => unknown) | null;
  type: GraphQLLeafType;
  nonNull: boolean;
  isOmitted: boolean;
  /** True if a number needs no serialization; NaN is null. Throws `NotPlain` for one that is neither. */
  accepts: (value: number) => boolean;
}

const utf8 = (text: string) => new Uint8Array(Buffer.from(text));
const [nullBytes, trueBytes, falseBytes, emptyRow] = ['null', 'true', 'false', '{}'].map(utf8) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
  Uint8Array,
];
const [closeBrace, openBracket, closeBracket, comma] = [...utf8('}[],')] as [number, number, number, number];

/** A field that is a plain value, as a column. */
export function columnOf(field: RowField, index: number): Column {
  const { key, definition, isOmitted } = field;
  const type = getNullableType(definition.type) as GraphQLLeafType;
  const nonNull = isNonNullType(definition.type);
  const isFloat = type === GraphQLFloat;
  return {
    field,
    index,
    firstKey: utf8(`{"${key}":`),
    laterKey: utf8(`,"${key}":`),
    resolve: (field.resolve ?? null) as Column['resolve'],
    type,
    nonNull,
    isOmitted,
    accepts: (value) => {
      if (isFloat && Number.isFinite(value)) return true;
      if (!Number.isNaN(value)) return type.serialize(value) === value || notPlain();
      return nonNull && notPlain();
    },
  };
}

function valueAt(from: ColumnValues, row: number): unknown {
  if (typeof from === 'function') return from(row);
  return from instanceof Float64Array ? from[row] : from.all;
}

/** The values of each column over the rows; null if a row lacks one. */
function columnValues(columns: readonly Column[], rows: ColumnRows<unknown>): ColumnValues[] | null {
  const values: ColumnValues[] = [];
  for (const { field, resolve } of columns) {
    const isName = field.definition === TypeNameMetaFieldDef;
    const found = isName ? { all: resolve!(null) as string } : rows.columns[field.name];
    if (found === undefined) return null;
    values.push(found);
  }
  return values;
}

/** Rows as columns of numbers, and of strings that are the same in all rows. */
interface NumberRows {
  columns: { before: Uint8Array; values: Float64Array; accepts: (value: number) => boolean }[];
  behind: Uint8Array;
}

const behindNumbers = utf8('}');

/** Lists that can be written as rows because they can be iterated again. */
export type Rows = readonly unknown[] | ColumnRows<unknown>;

/** Parts of a list of rows. */
export interface RowParts {
  rows: Rows;
  columns: readonly Column[];
  mayBeNull: boolean;
  /** Its depth in the answer. */
  depth: number;
}

/** Number of values to write before the clock is read again: about a tenth of a millisecond of work. */
const valuesALook = 1000;

/**
 * Writes a list of objects of which only plain values are selected, until the time slice ends, and its rest in later
 * slices. Throws, or rejects, if the list must be completed value by value.
 */
export class RowRun {
  readonly count: number;
  readonly #parts: RowParts;
  readonly #pieces: Pieces;
  readonly #writer = new ByteWriter();
  /** Characters of strings, by column. */
  readonly #characters: number[];
  readonly #rowsALook: number;
  /** The rows by column; null = they are objects. */
  readonly #values: readonly ColumnValues[] | null;
  readonly #numbers: NumberRows | null;
  #next = 0;
  #wrote = 0;

  constructor(parts: RowParts, pieces: Pieces) {
    const { rows, columns } = parts;
    this.#parts = parts;
    this.#pieces = pieces;
    this.#characters = columns.map(() => 0);
    this.#rowsALook = Math.max(1, Math.ceil(valuesALook / columns.length));
    this.#values = rows instanceof ColumnRows ? columnValues(columns, rows) : null;
    this.count = rows instanceof ColumnRows ? rows.count : rows.length;
    this.#numbers = this.#values && this.#numberRows(this.#values);
  }

  get characters(): readonly number[] {
    return this.#characters;
  }

  /** The list's JSON, or a promise of it. */
  run(): WrittenJson | Promise<WrittenJson> {
    try {
      if (this.#next === 0) this.#writer.byte(openBracket);
      while (this.#next < this.count) {
        const start = this.#next;
        this.#next = Math.min(start + this.#rowsALook, this.count);
        this.#rows(start, this.#next);
        this.#looked(this.#next - start);
        if (this.#next < this.count && !this.#pieces.mayGoOn()) {
          this.#writer.pause();
          return this.#pieces.later(() => this.run(), this.#parts.depth);
        }
      }
      this.#writer.byte(closeBracket);
      return new WrittenJson(this.#writer.done());
    } catch (error) {
      this.#pieces.wrote(-this.#wrote);
      throw error;
    }
  }

  /** Counts written rows. */
  #looked(count: number): void {
    const { length } = this.#writer;
    this.#pieces.leaves += count * this.#parts.columns.length;
    this.#pieces.wrote(length - this.#wrote);
    this.#wrote = length;
  }

  #rows(start: number, end: number): void {
    const writer = this.#writer;
    if (this.#numbers) {
      writer.rows(start, end, this.#numbers);
      return;
    }
    const { rows } = this.#parts;
    for (let row = start; row < end; row++) {
      if (row > 0) writer.byte(comma);
      if (this.#values) this.#columnRow(row, this.#values);
      else this.#row(rows instanceof ColumnRows ? rows.rowAt(row) : rows[row]);
    }
  }

  #row(row: unknown): void {
    const writer = this.#writer;
    if (row === null || row === undefined) {
      if (!this.#parts.mayBeNull) notPlain();
      writer.raw(nullBytes);
      return;
    }
    if (typeof row !== 'object' || row instanceof Error || isPromise(row)) notPlain();
    const { columns } = this.#parts;
    let isEmpty = true;
    for (let i = 0; i < columns.length; i++) {
      const column = columns[i]!;
      const { resolve } = column;
      const value = resolve === null ? (row as Record<string, unknown>)[column.field.name] : resolve(row);
      isEmpty = !this.#field(column, value, isEmpty) && isEmpty;
    }
    this.#endRow(isEmpty);
  }

  /** Writes a field. Returns false if it is omitted. */
  #field(column: Column, value: unknown, isFirst: boolean): boolean {
    const writer = this.#writer;
    const isNull = value === null || value === undefined;
    if (isNull && column.isOmitted) return false;
    writer.raw(isFirst ? column.firstKey : column.laterKey);
    if (!isNull) this.#value(column, value);
    else if (column.nonNull) notPlain();
    else writer.raw(nullBytes);
    return true;
  }

  #endRow(isEmpty: boolean): void {
    if (isEmpty) this.#writer.raw(emptyRow);
    else this.#writer.byte(closeBrace);
  }

  /** The rows as columns of numbers and of one string each; null if a column is neither. */
  #numberRows(values: readonly ColumnValues[]): NumberRows | null {
    const columns: NumberRows['columns'] = [];
    /** The strings since the last column of numbers, with their keys. */
    let texts = '';
    for (const [i, column] of this.#parts.columns.entries()) {
      const from = values[i]!;
      const { accepts, isOmitted, firstKey, laterKey } = column;
      if (isOmitted || typeof from === 'function') return null;
      const key = i === 0 ? firstKey : laterKey;
      if (from instanceof Float64Array) {
        const before = texts === '' ? key : utf8(texts + Buffer.from(key).toString());
        columns.push({ before, values: from, accepts });
        texts = '';
      } else {
        const text = this.#serialized(column, from.all) as string;
        texts += Buffer.from(key).toString() + JSON.stringify(text);
        this.#characters[i] = this.count * text.length;
      }
    }
    return { columns, behind: texts === '' ? behindNumbers : utf8(`${texts}}`) };
  }

  #columnRow(row: number, values: readonly ColumnValues[]): void {
    const { columns } = this.#parts;
    let isEmpty = true;
    for (let i = 0; i < columns.length; i++) {
      const column = columns[i]!;
      const value = valueAt(values[i]!, row);
      const isNull = value === null || value === undefined || Number.isNaN(value);
      isEmpty = !this.#field(column, isNull ? null : value, isEmpty) && isEmpty;
    }
    this.#endRow(isEmpty);
  }

  #value(column: Column, value: unknown): void {
    if (isAsItIs(column.type, value)) this.#written(column, value);
    else this.#written(column, this.#serialized(column, value));
  }

  #serialized({ type }: Column, value: unknown): unknown {
    // Completion by value asks for it again: nobody awaits this promise, whose failure is not one of the process.
    if (isPromise(value)) value.then(undefined, () => {});
    if (value instanceof Error || typeof value === 'function' || isPromise(value)) notPlain();
    const serialized = type.serialize(value);
    if (serialized === null || serialized === undefined) notPlain();
    return serialized;
  }

  #written({ index }: Column, value: unknown): void {
    const writer = this.#writer;
    if (typeof value === 'number' && Number.isFinite(value)) writer.number(value);
    else if (typeof value === 'string') {
      writer.text(value);
      this.#characters[index]! += value.length;
    } else if (typeof value === 'boolean') writer.raw(value ? trueBytes : falseBytes);
    else writer.json(JSON.stringify(value));
  }
}
