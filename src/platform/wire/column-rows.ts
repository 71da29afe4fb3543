/**
 * The values of one field over all rows: numbers, NaN = null; a function from row index to value; or one value for all
 * rows.
 */
export type ColumnValues = Float64Array | ((index: number) => unknown) | { all: string };

/**
 * Rows that are built on iteration, so that those of a long list are built in slices. If they are stored as columns and
 * only written, no object is built for any of them.
 */
export class ColumnRows<T> implements Iterable<T> {
  readonly count: number;
  readonly rowAt: (index: number) => T;
  /** By field, the values that `rowAt` returns. */
  readonly columns: Readonly<Record<string, ColumnValues>>;

  constructor(count: number, rowAt: (index: number) => T, columns: Readonly<Record<string, ColumnValues>> = {}) {
    this.count = count;
    this.rowAt = rowAt;
    this.columns = columns;
  }

  *[Symbol.iterator](): Generator<T> {
    for (let i = 0; i < this.count; i++) yield this.rowAt(i);
  }
}

/** Media types of tables. */
export const tableTypes = {
  csv: 'text/csv',
  arrow: 'application/vnd.apache.arrow.stream',
  parquet: 'application/vnd.apache.parquet',
  ndjson: 'application/jsonl',
} as const;

/** The other name that clients have for lines of JSON. */
export const jsonLines = 'application/x-ndjson';

/** True if a table in a media type has a line of JSON per row. */
export const isJsonLines = (media: string) => media === tableTypes.ndjson || media === jsonLines;

/** All media types that a client can request a table in. */
export const requestableTables: readonly string[] = [...Object.values(tableTypes), jsonLines];
