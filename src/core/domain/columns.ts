/** Type of a column's values: whole numbers of 32 or of 53 bits, any numbers, or texts. */
export type ColumnType = 'int32' | 'int64' | 'float64' | 'text';

/**
 * A value that each row of a series has; null = unknown. What is written here is the only description of it: types,
 * stored blocks, the graph, REST, protobuf and exports follow from it.
 */
export interface Column {
  type: ColumnType;
  /** In the graph: a noun phrase with the unit, and what null means unless the row's own description says it. */
  description: string;
  /** `false`: every row has it, in every block that was ever stored. A column that came later is null in older ones. */
  nullable?: false;
  /** Scalar of the graph; absent = that of the type. */
  graph?: 'Int' | 'StrikeThousandths' | 'EpochMs' | 'SessionDate';
  /** Name in REST; absent = the column's own in snake case. */
  rest?: string;
  /** Name of the field in protobuf; absent = the one in REST. */
  protobuf?: string;
  /** Lowest and highest number that a source is believed; absent = any. */
  from?: number;
  to?: number;
}

/** The columns of a record by name, in the order in which they are stored. */
export type Columns = Readonly<Record<string, Column>>;

type Known<C extends Column> = C['type'] extends 'text' ? string : number;

/** A record's row. */
export type RowOf<C extends Columns> = {
  -readonly [Name in keyof C]: Known<C[Name]> | (C[Name] extends { nullable: false } ? never : null);
};

/** A record's row as a source gives it: what may be unknown may be absent. */
export type GivenRow<C extends Columns> = Partial<RowOf<C>> & {
  [Name in keyof C as C[Name] extends { nullable: false } ? Name : never]: Known<C[Name]>;
};

/** The names of columns, in their order. */
export function namesOf<C extends Columns>(columns: C): readonly (keyof C & string)[] {
  return Object.keys(columns);
}

/** Builds a row column by column. */
export function rowBy<C extends Columns, Value>(
  columns: C,
  make: (name: keyof C & string) => Value,
): Record<keyof C, Value> {
  return Object.fromEntries(namesOf(columns).map((name) => [name, make(name)])) as Record<keyof C, Value>;
}

/** Converts `openInterest` to `open_interest`. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Names of columns in REST, in their order. */
export function restNames(columns: Columns): string[] {
  return Object.entries(columns).map(([name, { rest }]) => rest ?? snakeCase(name));
}

/** Types of columns by their names in REST. */
export function restTypes(columns: Columns): Record<string, ColumnType> {
  const types = Object.values(columns).map(({ type }) => type);
  return Object.fromEntries(restNames(columns).map((name, i) => [name, types[i]!]));
}

/** Gives rows the names of REST. */
export function restRows<C extends Columns>(columns: C): (row: RowOf<C>) => Record<string, number | string | null> {
  const [names, rest] = [namesOf(columns), restNames(columns)];
  return (row) => Object.fromEntries(names.map((name, i) => [rest[i]!, row[name]]));
}

/** Numbers of rows as columns of one length; NaN = unknown. */
export type InColumns<C extends Columns> = { -readonly [Name in keyof C]: Float64Array };

/** Columns for `length` rows, 0 until set, in one piece of memory: small pieces cost more than what they hold. */
export function emptyColumns<C extends Columns>(columns: C, length: number): InColumns<C> {
  const names = namesOf(columns);
  const memory = new ArrayBuffer(8 * names.length * length);
  const made = {} as InColumns<C>;
  for (let i = 0; i < names.length; i++) made[names[i]!] = new Float64Array(memory, 8 * length * i, length);
  return made;
}

/** Columns for `length` rows, in which all that a row may lack is unknown until it is set. */
export function unknownColumns<C extends Columns>(columns: C, length: number): InColumns<C> {
  const made = emptyColumns(columns, length);
  for (const name of namesOf(columns)) if (columns[name]!.nullable !== false) made[name].fill(Number.NaN);
  return made;
}

/** The numbers of rows as columns. */
export function inColumns<C extends Columns>(columns: C, rows: readonly RowOf<C>[]): InColumns<C> {
  return rowBy(columns, (name) => Float64Array.from(rows, (row) => (row[name] as number | null) ?? Number.NaN));
}

/** The columns of some of the rows. */
export function columnsAt<Rows extends { [Name in keyof Rows]: Float64Array }>(rows: Rows, indexes: Uint32Array): Rows {
  const picked = Object.entries<Float64Array>(rows).map(([name, values]) => [
    name,
    Float64Array.from(indexes, (index) => values[index]!),
  ]);
  return Object.fromEntries(picked) as Rows;
}

// Compiled: a loop over the names takes four times as long for a row that is read, and twelve times for one written.

/**
 * Reads the row at an index of columns, under `names` instead of the columns' own; before them come the values of
 * another object that `beside` names.
 */
export function rowReader<Rows, Row, Beside extends [] | [object] = []>(
  columns: Columns,
  { names = namesOf(columns), beside = [] }: { names?: readonly string[]; beside?: readonly string[] } = {},
): (rows: Rows, index: number, ...beside: Beside) => Row {
  const fields = Object.entries(columns).map(([name, { nullable }], i) => {
    const value = `rows.${name}[index]`;
    return nullable === false ? `${names[i]}: ${value}` : `${names[i]}: ${value} === ${value} ? ${value} : null`;
  });
  const all = [...beside.map((name) => `${name}: beside.${name}`), ...fields];
  return new Function('rows', 'index', 'beside', `return { ${all.join(', ')} };`) as never;
}

/** Writes a row at an index of columns. */
export function rowWriter<C extends Columns>(
  columns: C,
): (rows: InColumns<C>, index: number, row: GivenRow<C>) => void {
  const writes = Object.entries<Column>(columns).map(
    ([name, { nullable }]) => `rows.${name}[index] = row.${name}${nullable === false ? '' : ' ?? NaN'};`,
  );
  return new Function('rows', 'index', 'row', writes.join(' ')) as never;
}
