import { yieldToEventLoop } from '../../../platform/runtime/event-loop.ts';

const steps = [1, 2, 5, 10, 25, 50, 100, 250, 500];

/**
 * A Prisma condition on one of several values. Every length of a list is a separate statement, so lists are padded to
 * one of a few lengths by repeating the last value.
 */
export function anyOf<T>(values: Iterable<T>): { in: T[] } {
  const list = [...new Set(values)];
  if (list.length === 0) return { in: list };
  const length = steps.find((step) => step >= list.length) ?? Math.ceil(list.length / 1000) * 1000;
  return { in: list.concat(new Array<T>(length - list.length).fill(list.at(-1)!)) };
}

/** Maximum number of values per statement of `findAny`: reading a row of each takes some 5 ms. */
const mostAtOnce = 250;

/**
 * The rows for any number of values. `read` gets a condition on up to 250 of them, and is called once unless there are
 * more; calls yield to the event loop in between.
 */
export async function findAny<T, Row>(
  values: Iterable<T>,
  read: (some: { in: T[] }) => Promise<Row[]>,
): Promise<Row[]> {
  const list = [...new Set(values)];
  const found: Row[][] = [];
  for (let start = 0; start < list.length; start += mostAtOnce) {
    if (start > 0) await yieldToEventLoop();
    found.push(await read(anyOf(list.slice(start, start + mostAtOnce))));
  }
  return found.flat();
}
