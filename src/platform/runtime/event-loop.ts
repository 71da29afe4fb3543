import { Lane } from './fair-scheduler.ts';
import { currentRequest, RequestScope } from './request-scope.ts';

// Heavy work runs in pieces, one per iteration of the event loop, so that no request blocks the others. One lane per
// process.
const lane = new Lane({ now: () => performance.now() });

/** The scope of a request that arrives, which counts as light until it yields for heavy work. */
export function beginRequest(arrivedAtMs: number, gone: () => Error): RequestScope {
  return new RequestScope(arrivedAtMs, lane.light(), gone);
}

/** Counters of the heavy work of this process. @testonly */
export const heavyWork = () => lane.stats();

/**
 * Yields to the event loop: resolves when the next slice of heavy work may run, in an iteration of its own. Rejects if
 * the client of the request has disconnected.
 */
export async function yieldToEventLoop(): Promise<void> {
  const request = currentRequest();
  request?.requireClient();
  request?.isHeavy();
  const runs = request?.waitsForTurn();
  await lane.turn(request?.caller ?? '', () => request?.isOver === true);
  runs?.();
  request?.requireClient();
}

/** Resolves when the next slice of a caller's work that no open request waits for may run, unless it is over before. */
export function turnOf(caller: string, isOver: () => boolean): Promise<void> {
  return lane.turn(caller, isOver);
}

/** Size of a body from which reading it counts as heavy work, bytes. */
const heavyBytes = 16 * 1024;

/** Yields before this many bytes are read; returns immediately if they are few. */
export async function yieldForBytes(bytes: number): Promise<void> {
  if (bytes >= heavyBytes) await yieldToEventLoop();
}

/** Number of rows from which building an answer counts as heavy work. */
const heavyRows = 250;

/** Yields before this many rows are built; returns immediately if they are few. */
export async function yieldForRows(rows: number): Promise<void> {
  if (rows >= heavyRows) await yieldToEventLoop();
}
