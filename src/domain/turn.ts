// Heavy work is done in pieces, one a turn of the event loop, so that no request keeps the others waiting. The queue is
// the process's: pieces of many requests alternate, and between two of them the loop looks for new work.
let last: Promise<void> = Promise.resolve();

/** Resolves in a turn of the event loop of its own, after those asked for before it. */
export function nextTurn(): Promise<void> {
  last = last.then(() => new Promise<void>((resolve) => setImmediate(resolve)));
  return last;
}
