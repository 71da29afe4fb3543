import { type Columns, type RowOf, rowBy } from './columns.ts';

/** The numbers of many rows, an array a column, all of one length; NaN = unknown. */
export type ArraysOf<C extends Columns> = { [Name in keyof C]: Float64Array };

/** The numbers of rows as arrays. */
export function arraysOf<C extends Columns>(columns: C, rows: readonly RowOf<C>[]): ArraysOf<C> {
  return rowBy(columns, (name) => Float64Array.from(rows, (row) => (row[name] as number | null) ?? Number.NaN));
}

/** The numbers of the row at `index`. */
export function numbersAt<C extends Columns>(columns: C, arrays: ArraysOf<C>, index: number): RowOf<C> {
  const numbers = {} as Record<string, number | null>;
  for (const name in columns) {
    const value = arrays[name]![index]!;
    numbers[name] = Number.isNaN(value) ? null : value;
  }
  return numbers as RowOf<C>;
}

/** The numbers of some of the rows. */
export function arraysAt<Arrays extends { [Name in keyof Arrays]: Float64Array }>(
  arrays: Arrays,
  indexes: Uint32Array,
): Arrays {
  const picked = Object.entries<Float64Array>(arrays).map(([name, values]) => [
    name,
    Float64Array.from(indexes, (index) => values[index]!),
  ]);
  return Object.fromEntries(picked) as Arrays;
}
