import type { JsonSchema } from './json-schema.ts';

/**
 * Types of a column's values: whole numbers of 32 and of 64 bits, doubles, flags, texts, and lists of values as JSON
 * text.
 */
export type ColumnType = 'int32' | 'int64' | 'float64' | 'bool' | 'text' | 'json';

/** A column of a table. */
export interface Column {
  name: string;
  type: ColumnType;
  /** True if a row may have no value. */
  nullable: boolean;
}

/** One value of a row. Null = unknown. */
export type Cell = string | number | boolean | null;

/** The values of a column, as libraries of columns take them: 64-bit integers are bigints. */
export function columnValues({ type }: Column, rows: readonly (readonly Cell[])[], index: number): unknown[] {
  if (type !== 'int64') return rows.map((row) => row[index]);
  return rows.map((row) => (row[index] === null ? null : BigInt(row[index]!)));
}

/** A column and the source of its value: the item of the list itself, or of an enclosing list. */
interface Source extends Column {
  /** Index of the list whose item holds the value, from 0 for the outermost. */
  list: number;
  keys: readonly string[];
}

/**
 * A list of objects in an answer as a table: one row per item, with the values of the enclosing lists repeated in each.
 */
export interface Table {
  /** The list's wire name; `rows` if the data is the list itself. */
  name: string;
  /** The keys that lead to it from the data, joined by dots. */
  path: string;
  /** True if it is a list inside rows. */
  isInner: boolean;
  columns: readonly Column[];
  /** The rows of an answer's data, in chunks that one iteration of the event loop can read and write. */
  pieces: (data: unknown) => Iterable<Cell[][]>;
  /**
   * The rows as objects: each item within the items around it, where it takes the place of its list. Their other lists
   * are omitted, or a small answer could become a large table.
   */
  objects: (data: unknown) => Iterable<unknown>;
}

/** Rows per chunk: about 2 ms of work. */
const rowsAPiece = 1000;

function typesOf({ type }: JsonSchema): string[] {
  return Array.isArray(type) ? (type as string[]) : [String(type)];
}

/** The schema without its null alternative. */
function known(schema: JsonSchema): JsonSchema {
  const choices = schema.anyOf as JsonSchema[] | undefined;
  return choices?.find((choice) => choice.type !== 'null') ?? schema;
}

function isNullable(schema: JsonSchema): boolean {
  return schema.anyOf !== undefined || typesOf(schema).includes('null');
}

function columnType(schema: JsonSchema): ColumnType {
  const types = typesOf(schema);
  if (types.includes('integer')) return schema.format === 'int64' ? 'int64' : 'int32';
  if (types.includes('number')) return 'float64';
  if (types.includes('boolean')) return 'bool';
  return types.includes('string') ? 'text' : 'json';
}

/** A list found in an answer: the keys that lead to it from the enclosing item, and the item's schema. */
interface Met {
  keys: readonly string[];
  item: JsonSchema;
}

/** A list on the way to a table's: the keys that lead to it, and to the other lists beside it. */
interface Level {
  keys: readonly string[];
  others: readonly (readonly string[])[];
}

/** Parts of an object: its values as columns, and the lists of objects in it. */
function parts(
  schema: JsonSchema,
  list: number,
  keys: readonly string[],
  nullable: boolean,
): { columns: Source[]; lists: Met[] } {
  const columns: Source[] = [];
  const lists: Met[] = [];
  const required = new Set(schema.required as string[]);
  for (const [key, written] of Object.entries(schema.properties as Record<string, JsonSchema>)) {
    const inner = known(written);
    const at = [...keys, key];
    const absentable = nullable || isNullable(written) || !required.has(key);
    if (inner.properties) {
      const below = parts(inner, list, at, absentable);
      columns.push(...below.columns);
      lists.push(...below.lists);
    } else if (typesOf(inner).includes('array') && known(inner.items as JsonSchema).properties) {
      lists.push({ keys: at, item: known(inner.items as JsonSchema) });
    } else columns.push({ name: at.join('.'), type: columnType(inner), nullable: absentable, list, keys: at });
  }
  return { columns, lists };
}

function at(value: unknown, keys: readonly string[]): unknown {
  let found = value;
  for (const key of keys) {
    if (found === null || found === undefined) return null;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}

function cellOf(value: unknown, { type }: Source): Cell {
  if (value === null || value === undefined) return null;
  return type === 'json' ? JSON.stringify(value) : (value as Cell);
}

/** The items of the innermost list, each with the enclosing ones, outermost first. */
function* itemsBelow(
  value: unknown,
  [first, ...rest]: readonly (readonly string[])[],
  around: unknown[],
): Iterable<unknown[]> {
  if (first === undefined) yield around;
  else
    for (const item of (at(value, first) as unknown[] | null) ?? []) yield* itemsBelow(item, rest, [...around, item]);
}

function* piecesOf(
  data: unknown,
  lists: readonly (readonly string[])[],
  columns: readonly Source[],
): Iterable<Cell[][]> {
  let rows: Cell[][] = [];
  let [row, above]: [Cell[], unknown[]] = [[], []];
  for (const items of itemsBelow(data, lists, [])) {
    const [former, around] = [row, above];
    // Rows share the cells of what is around them.
    row = columns.map((column, index) => {
      const item = items[column.list];
      return item === around[column.list] ? former[index]! : cellOf(at(item, column.keys), column);
    });
    above = items;
    rows.push(row);
    if (rows.length < rowsAPiece) continue;
    yield rows;
    rows = [];
  }
  if (rows.length > 0) yield rows;
}

/** An object with another value at `keys`; undefined = without them. */
function changed(object: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined || object === null || object === undefined) return value;
  const { [key]: former, ...others } = object as Record<string, unknown>;
  const inner = changed(former, rest, value);
  return inner === undefined ? others : { ...others, [key]: inner };
}

function* objectsOf(data: unknown, path: readonly Level[]): Iterable<unknown> {
  const lead = path.map(({ keys }) => keys);
  for (const items of itemsBelow(data, lead, []))
    yield items.reduceRight((inner, around, index) => {
      const { keys, others } = path[index + 1]!;
      return changed(
        others.reduce<unknown>((rest, other) => changed(rest, other, undefined), around),
        keys,
        inner,
      );
    });
}

/** The tables at and below lists of one level. `around`: columns of the enclosing items. */
function tablesOf(lists: readonly Met[], path: readonly Level[], names: string, around: readonly Source[]): Table[] {
  return lists.flatMap(({ keys, item }) => {
    const others = lists.filter((other) => other.keys !== keys).map((other) => other.keys);
    const lead = [...path, { keys, others }];
    const keysOfLists = lead.map((level) => level.keys);
    // Qualified by the path from the outermost item if two lists may have the same name.
    const prefix = path.length === 0 ? '' : `${names}${keys.join('.')}.`;
    const own = parts(item, path.length, [], false);
    const named = own.columns.map((column) => ({ ...column, name: prefix + column.name }));
    const columns = [...around, ...named];
    const table: Table = {
      name: keys.at(-1) ?? 'rows',
      path: keysOfLists.flat().join('.'),
      isInner: path.length > 0,
      columns,
      pieces: (data) => piecesOf(data, keysOfLists, columns),
      objects: (data) => objectsOf(data, lead),
    };
    return [table, ...tablesOf(own.lists, lead, prefix, columns)];
  });
}

/** An answer's data as tables. */
export interface Tables {
  /** One for every list of objects, outermost first; empty if the data is a single object, or a list of scalars. */
  tables: Table[];
  /** The data besides its lists, by column name; null if there is none. */
  beside: (data: unknown) => Record<string, Cell> | null;
}

/**
 * The tables in an answer whose data is of `schema`. Columns have wire names, with dots where an object or a list lies
 * in another.
 */
export function answerTables(schema: JsonSchema): Tables {
  const data = known(schema);
  if (typesOf(data).includes('array')) {
    const item = known(data.items as JsonSchema);
    return { tables: item.properties ? tablesOf([{ keys: [], item }], [], '', []) : [], beside: () => null };
  }
  if (!data.properties) return { tables: [], beside: () => null };
  const { columns, lists } = parts(data, 0, [], false);
  const tables = tablesOf(lists, [], '', []);
  if (columns.length === 0) return { tables, beside: () => null };
  return {
    tables,
    beside: (answer) =>
      Object.fromEntries(columns.map((column) => [column.name, cellOf(at(answer, column.keys), column)])),
  };
}
