import { yieldToEventLoop } from '../runtime/event-loop.ts';
import { ColumnRows, type ColumnValues } from '../wire/column-rows.ts';
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

/** Counts rows of an answer; what they wait for. */
function nextRows(making: Making, count: number): Promise<void> | null {
  const { rows } = making;
  making.rows += count;
  const yieldsAt = (before: number) => Math.floor((Math.max(before, 1) - 1) / rowsPerYield);
  if (yieldsAt(making.rows) > yieldsAt(rows)) making.pause = yieldToEventLoop();
  return making.pause;
}

/**
 * The rows of a list for the graph, so that making, completing and selecting them never blocks other requests for long.
 * Where the answer is made in pieces, each row is made when it is taken. Elsewhere the first rows of an answer are made
 * at once, over all of its lists, and others come as promises that resolve so many an iteration of the event loop.
 *
 * @param columns Columns that the rows stand in, by field: rows that are only written are written from these.
 */
export function yieldingRows<T>(
  context: Pick<RequestContext, 'batchSchedule'>,
  count: number,
  rowAt: (index: number) => T,
  columns: Readonly<Record<string, ColumnValues>> = {},
): Iterable<T | Promise<T>> | Promise<Iterable<T>> {
  const rows = new ColumnRows(count, rowAt, columns);
  if (context.batchSchedule && count > 1) return rows;
  const making = makings.get(context) ?? { rows: 0, pause: null };
  makings.set(context, making);
  if (count > rowsTogether) return longRows(making, count, rowAt);
  const pause = nextRows(making, count);
  return pause === null ? rows : pause.then(() => rows);
}

function longRows<T>(making: Making, count: number, rowAt: (index: number) => T): (T | Promise<T>)[] {
  const rows = new Array<T | Promise<T>>(count);
  for (let i = 0; i < count; i++) {
    const pause = nextRows(making, 1);
    rows[i] = pause === null ? rowAt(i) : pause.then(() => rowAt(i));
  }
  return rows;
}
