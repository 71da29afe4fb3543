/** The values of one field over all rows: numbers, NaN = null; what makes the value of a row; or one for all rows. */
export type ColumnValues = Float64Array | ((index: number) => unknown) | { all: string };

/**
 * Rows that are made as they are taken, so that those of a long list are made in pieces. Where they stand in columns
 * and are only written, no object is made for any of them.
 */
export class ColumnRows<T> implements Iterable<T> {
  readonly count: number;
  readonly rowAt: (index: number) => T;
  /** By field: of each, what `rowAt` gives. */
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
