import { nextTurn } from '../runtime/event-loop.ts';

/** Rows that are made and completed in one turn of the event loop: some milliseconds of work in either executor. */
const rowsATurn = 1000;

/**
 * The rows of a list for the graph. Those of a long list come as promises that resolve so many a turn of the event loop, so
 * that making, completing and selecting them never keeps other requests waiting for long.
 */
export function inTurns<T>(count: number, rowAt: (index: number) => T): (T | Promise<T>)[] {
  const rows = new Array<T | Promise<T>>(count);
  let turn: Promise<void> | null = null;
  for (let i = 0; i < count; i++) {
    if (i > 0 && i % rowsATurn === 0) turn = nextTurn();
    rows[i] = turn === null ? rowAt(i) : turn.then(() => rowAt(i));
  }
  return rows;
}
