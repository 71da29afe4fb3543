import { WrittenJson } from '../../wire/json-chunks.ts';

/** As graphql-js recognizes a promise. */
export function isPromise<T>(value: unknown): value is Promise<T> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

/**
 * True if a completed value is plain JSON. Otherwise it is JSON that has been written already, since it is long, or the
 * promise of either.
 */
export function isPlain(completed: unknown): boolean {
  return !(completed instanceof WrittenJson || completed instanceof Promise);
}
