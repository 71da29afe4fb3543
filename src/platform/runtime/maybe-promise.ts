/** A value, or a promise of it. */
export type MaybePromise<T> = T | Promise<T>;

/**
 * Applies `read` to a value, immediately unless it is a promise. A promise for each value of a list would cost the
 * executor several times as much as the value.
 */
export function whenThere<T, R>(value: MaybePromise<T>, read: (value: T) => R): MaybePromise<R> {
  return value instanceof Promise ? value.then(read) : read(value);
}
