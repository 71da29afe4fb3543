import { yieldToEventLoop } from '../runtime/event-loop.ts';
import type { RequestContext } from './context.ts';

/** Rows made and completed in one iteration of the event loop: some milliseconds of work in either executor. */
const rowsPerYield = 1000;
/** The rows of a list up to this many come together: a promise for each costs more than they do. */
const rowsTogether = 2000;

/** The rows that an answer has been given so far, and what the next ones wait for; null = nothing yet. */
interface Making {
  rows: number;
  pause: Promise<void> | null;
}

const makings = new WeakMap<object, Making>();

/** Counts a row of an answer; what it waits for. */
function nextRow(making: Making): Promise<void> | null {
  if (making.rows > 0 && making.rows % rowsPerYield === 0) making.pause = yieldToEventLoop();
  making.rows++;
  return making.pause;
}

/**
 * The rows of a list for the graph, so that making, completing and selecting them never blocks other requests for long.
 * Where the answer is made in pieces, each row is made when it is taken. Elsewhere the first rows of an answer are made
 * at once, over all of its lists, and others come as promises that resolve so many an iteration of the event loop.
 */
export function yieldingRows<T>(
  context: Pick<RequestContext, 'batchSchedule'>,
  count: number,
  rowAt: (index: number) => T,
): Iterable<T | Promise<T>> | Promise<T[]> {
  if (context.batchSchedule && count > 1) return lazyRows(count, rowAt);
  const making = makings.get(context) ?? { rows: 0, pause: null };
  makings.set(context, making);
  if (count > rowsTogether) return longRows(making, count, rowAt);
  let pause = making.pause;
  for (let i = 0; i < count; i++) pause = nextRow(making);
  const rows = () => Array.from({ length: count }, (_, index) => rowAt(index));
  return pause === null ? rows() : pause.then(rows);
}

function* lazyRows<T>(count: number, rowAt: (index: number) => T): Generator<T> {
  for (let i = 0; i < count; i++) yield rowAt(i);
}

function longRows<T>(making: Making, count: number, rowAt: (index: number) => T): (T | Promise<T>)[] {
  const rows = new Array<T | Promise<T>>(count);
  for (let i = 0; i < count; i++) {
    const pause = nextRow(making);
    rows[i] = pause === null ? rowAt(i) : pause.then(() => rowAt(i));
  }
  return rows;
}
