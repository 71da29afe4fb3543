import { type Column, type Columns, type GivenRow, namesOf, type RowOf, rowBy } from './columns.ts';

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
