/** A value that is there, or comes. */
export type MaybePromise<T> = T | Promise<T>;

/**
 * Applies `read` to a value: at once if it is there. A promise for each value of a list costs the executor several
 * times what the value does.
 */
export function whenThere<T, R>(value: MaybePromise<T>, read: (value: T) => R): MaybePromise<R> {
  return value instanceof Promise ? value.then(read) : read(value);
}
