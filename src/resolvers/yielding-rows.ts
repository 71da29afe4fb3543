import { yieldToEventLoop } from '../runtime/event-loop.ts';
import type { RequestContext } from './context.ts';

/** Rows made and completed in one iteration of the event loop: some milliseconds of work in either executor. */
const rowsPerYield = 1000;

/**
 * The rows of a list for the graph, so that making, completing and selecting them never blocks other requests for
 * long: where the answer is made in pieces, each row is made when it is taken; elsewhere those of a long list come as
 * promises that resolve so many an iteration of the event loop.
 */
export function yieldingRows<T>(
  { batchSchedule }: Pick<RequestContext, 'batchSchedule'>,
  count: number,
  rowAt: (index: number) => T,
): Iterable<T | Promise<T>> {
  return batchSchedule && count > rowsPerYield ? lazyRows(count, rowAt) : promised(count, rowAt);
}

/** Rows each made when it is taken. */
export function* lazyRows<T>(count: number, rowAt: (index: number) => T): Generator<T> {
  for (let i = 0; i < count; i++) yield rowAt(i);
}

function promised<T>(count: number, rowAt: (index: number) => T): (T | Promise<T>)[] {
  const rows = new Array<T | Promise<T>>(count);
  let pause: Promise<void> | null = null;
  for (let i = 0; i < count; i++) {
    if (i > 0 && i % rowsPerYield === 0) pause = yieldToEventLoop();
    rows[i] = pause === null ? rowAt(i) : pause.then(() => rowAt(i));
  }
  return rows;
}
