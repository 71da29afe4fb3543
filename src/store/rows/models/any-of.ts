const steps = [1, 2, 5, 10, 25, 50, 100, 250, 500];

/**
 * A condition on one of several values, for Prisma. Every length of a list is a statement of its own, so that the list
 * is brought to one of a few lengths by repeating its last value.
 */
export function anyOf<T>(values: Iterable<T>): { in: T[] } {
  const list = [...new Set(values)];
  if (list.length === 0) return { in: list };
  const length = steps.find((step) => step >= list.length) ?? Math.ceil(list.length / 1000) * 1000;
  return { in: list.concat(new Array<T>(length - list.length).fill(list.at(-1)!)) };
}
