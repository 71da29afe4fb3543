import {
  type FieldNode,
  GraphQLFloat,
  GraphQLInt,
  type GraphQLLeafType,
  type GraphQLObjectType,
  getNullableType,
  isNonNullType,
} from 'graphql';
import { ColumnRows, type ColumnValues } from '../../wire/column-rows.ts';
import { ByteWriter } from '../../wire/json-byte-writer.ts';
import { WrittenJson } from '../../wire/json-chunks.ts';
import { isPromise } from './completed.ts';
import { responseKey } from './document.ts';

/**
 * A row has what only the ordinary way of completing it knows to answer: an error, a value that does not fit its type,
 * a null where none may be, a promise.
 */
export class NotPlain extends Error {}

function notPlain(): never {
  throw new NotPlain();
}

/** A list of rows that has been written, instead of the list. */
export class WrittenRows extends WrittenJson {
  /** Number of rows. */
  readonly count: number;
  /** Characters of their texts, by key. */
  readonly characters: ReadonlyMap<string, number>;

  constructor(parts: readonly Buffer[], count: number, characters: ReadonlyMap<string, number>) {
    super(parts);
    this.count = count;
    this.characters = characters;
  }
}

/** A field of each row. */
interface Column {
  key: string;
  /** Where it stands among the columns. */
  index: number;
  /** The key as it is written first in a row: with a brace before it and a colon behind. */
  firstKey: Uint8Array;
  /** The key as it is written behind others. */
  laterKey: Uint8Array;
  /** The property that is read where there is no resolver. */
  name: string;
  resolve: ((row: unknown) => unknown) | null;
  /** Null = `__typename`. */
  type: GraphQLLeafType | null;
  nonNull: boolean;
  /** True if it is omitted where it is null. */
  isOmitted: boolean;
}

const utf8 = (text: string) => new Uint8Array(Buffer.from(text));
const [nullBytes, trueBytes, falseBytes, emptyRow] = ['null', 'true', 'false', '{}'].map(utf8) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
  Uint8Array,
];
const [closeBrace, openBracket, closeBracket, comma] = [...utf8('}[],')] as [number, number, number, number];

function columnOf(rowType: GraphQLObjectType, absent: ReadonlySet<string>, node: FieldNode, index: number): Column {
  const key = responseKey(node);
  const name = node.name.value;
  const field = rowType.getFields()[name];
  const type = field ? (getNullableType(field.type) as GraphQLLeafType) : null;
  return {
    key,
    index,
    firstKey: utf8(`{"${key}":`),
    laterKey: utf8(`,"${key}":`),
    name,
    resolve: field ? ((field.resolve ?? null) as Column['resolve']) : () => rowType.name,
    type,
    nonNull: !field || isNonNullType(field.type),
    isOmitted: absent.has(key),
  };
}

/** True if a number is answered as it is; NaN is null. Throws `NotPlain` for one that is neither. */
function acceptsNumber({ type, nonNull }: Column): (value: number) => boolean {
  const isFloat = type === GraphQLFloat;
  return (value) => {
    if (isFloat && Number.isFinite(value)) return true;
    if (!Number.isNaN(value)) return type!.serialize(value) === value || notPlain();
    return nonNull && notPlain();
  };
}

function valueAt(from: ColumnValues, row: number): unknown {
  if (typeof from === 'function') return from(row);
  return from instanceof Float64Array ? from[row] : from.all;
}

/** Rows that are waited for together. */
const rowsAwaited = 1000;

/** Writes lists of objects from which an operation selects only plain values. */
export class RowWriter {
  readonly #columns: readonly Column[];
  readonly #mayBeNull: boolean;

  /** @param nodes The fields that are asked of each row. @param absent Keys that are omitted where they are null. */
  constructor(
    rowType: GraphQLObjectType,
    nodes: readonly FieldNode[],
    { mayBeNull, absent }: { mayBeNull: boolean; absent: ReadonlySet<string> },
  ) {
    const first = new Map<string, FieldNode>();
    for (const node of nodes) if (!first.has(responseKey(node))) first.set(responseKey(node), node);
    this.#columns = [...first.values()].map((node, i) => columnOf(rowType, absent, node, i));
    this.#mayBeNull = mayBeNull;
  }

  /** The rows, written. Those that are promises are waited for. Throws, or rejects with, `NotPlain`. */
  write(rows: unknown): WrittenRows | Promise<WrittenRows> {
    try {
      const written = this.#write(rows);
      return written instanceof Promise ? written.catch(notPlain) : written;
    } catch {
      return notPlain();
    }
  }

  #write(rows: unknown): WrittenRows | Promise<WrittenRows> {
    const list = new WrittenList(this.#columns, this.#mayBeNull);
    if (rows instanceof ColumnRows) {
      const values = this.#columns.map(({ name, type, resolve }) =>
        type === null ? { all: resolve!(null) as string } : rows.columns[name],
      );
      if (values.every((column) => column !== undefined)) return list.columns(rows.count, values);
    }
    if (typeof rows !== 'object') return notPlain();
    const iterator = (rows as Iterable<unknown>)[Symbol.iterator]();
    for (let next = iterator.next(); !next.done; next = iterator.next()) {
      if (isPromise(next.value)) return list.awaited(next.value, iterator);
      list.row(next.value);
    }
    return list.done();
  }
}

class WrittenList {
  readonly #writer = new ByteWriter();
  readonly #columns: readonly Column[];
  readonly #mayBeNull: boolean;
  /** Characters of texts, by column. */
  readonly #characters: number[];
  #count = 0;

  constructor(columns: readonly Column[], mayBeNull: boolean) {
    this.#columns = columns;
    this.#mayBeNull = mayBeNull;
    this.#characters = columns.map(() => 0);
  }

  row(row: unknown): void {
    const writer = this.#writer;
    writer.byte(this.#count++ === 0 ? openBracket : comma);
    if (row === null || row === undefined) {
      if (!this.#mayBeNull) notPlain();
      writer.raw(nullBytes);
      return;
    }
    if (typeof row !== 'object') notPlain();
    const columns = this.#columns;
    let isEmpty = true;
    for (let i = 0; i < columns.length; i++) {
      const column = columns[i]!;
      const { resolve } = column;
      const value = resolve === null ? (row as Record<string, unknown>)[column.name] : resolve(row);
      isEmpty = !this.#field(column, value, isEmpty) && isEmpty;
    }
    this.#endRow(isEmpty);
  }

  /** Writes a field; false = it is omitted. */
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

  /** Rows that stand in columns, one for each column of the list. */
  columns(count: number, values: readonly ColumnValues[]): WrittenRows {
    if (count > 0 && !this.#numbers(count, values)) for (let row = 0; row < count; row++) this.#columnRow(row, values);
    return this.done();
  }

  /** Rows of numbers, and of values that are the same in all rows; false = they have others, and nothing is written. */
  #numbers(count: number, values: readonly ColumnValues[]): boolean {
    const numbers: { before: Uint8Array; values: Float64Array; accepts: (value: number) => boolean }[] = [];
    let before = '';
    for (const [i, column] of this.#columns.entries()) {
      const from = values[i]!;
      before += `${i === 0 ? '{' : ','}"${column.key}":`;
      if (column.isOmitted || typeof from === 'function') return false;
      if (from instanceof Float64Array) {
        numbers.push({ before: utf8(before), values: from, accepts: acceptsNumber(column) });
        before = '';
      } else {
        const value = this.#serialized(column, from.all) as string;
        before += JSON.stringify(value);
        this.#characters[i]! += count * value.length;
      }
    }
    this.#writer.byte(openBracket);
    this.#writer.rows(count, numbers, { between: utf8(','), behind: utf8(`${before}}`) });
    this.#count = count;
    return true;
  }

  #columnRow(row: number, values: readonly ColumnValues[]): void {
    const writer = this.#writer;
    const columns = this.#columns;
    writer.byte(this.#count++ === 0 ? openBracket : comma);
    let isEmpty = true;
    for (let i = 0; i < columns.length; i++) {
      const column = columns[i]!;
      const from = values[i]!;
      const value = valueAt(from, row);
      const isNull = value === null || value === undefined || Number.isNaN(value);
      isEmpty = !this.#field(column, isNull ? null : value, isEmpty) && isEmpty;
    }
    this.#endRow(isEmpty);
  }

  #value(column: Column, value: unknown): void {
    const { type } = column;
    const isAsItIs =
      typeof value === 'number' &&
      ((type === GraphQLFloat && Number.isFinite(value)) || (type === GraphQLInt && (value | 0) === value));
    if (isAsItIs) this.#writer.number(value);
    else this.#written(column, this.#serialized(column, value));
  }

  #serialized({ type }: Column, value: unknown): unknown {
    if (type === null) return value;
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

  /** The rows from the first that is a promise on, so many at a time. */
  async awaited(first: unknown, others: Iterator<unknown>): Promise<WrittenRows> {
    const rows: unknown[] = [first];
    for (let next = others.next(); !next.done; next = others.next()) rows.push(next.value);
    // Those that are waited for later may fail before, all at once: when the client has gone.
    for (const row of rows) if (isPromise(row)) row.then(undefined, () => {});
    for (let start = 0; start < rows.length; start += rowsAwaited) {
      this.#writer.pause();
      for (const row of await Promise.all(rows.slice(start, start + rowsAwaited))) this.row(row);
    }
    return this.done();
  }

  done(): WrittenRows {
    if (this.#count === 0) this.#writer.byte(openBracket);
    this.#writer.byte(closeBracket);
    const characters = new Map(this.#columns.map(({ key, index }) => [key, this.#characters[index]!]));
    return new WrittenRows(this.#writer.done(), this.#count, characters);
  }
}
