/** A copy of a column of at least `length` numbers. */
export function longer<T extends Float64Array | Int32Array>(column: T, length: number): T {
  const copy = new (column.constructor as new (length: number) => T)(length);
  copy.set(column);
  return copy;
}
