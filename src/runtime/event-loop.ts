import { createLane } from './lane.ts';
import { currentRequest, RequestScope } from './request-scope.ts';

// Heavy work is done in pieces, one in an iteration of the event loop, so that no request keeps the others waiting. The
// lane is the process's.
const lane = createLane({ now: () => performance.now() });

/** The scope of a request that comes in, which counts as light until it asks for a turn. `gone` as in `RequestScope`. */
export function beginRequest(gone: () => Error): RequestScope {
  return new RequestScope(lane.light(), gone);
}

/** Counters of the heavy work of this process. @testonly */
export const heavyWork = lane.stats;

/**
 * Resolves when the next piece of heavy work may run, in an iteration of the event loop of its own. Rejects when the client of the request
 * that it is for has hung up.
 */
export async function nextTurn(): Promise<void> {
  const request = currentRequest();
  request?.requireClient();
  request?.isHeavy();
  await lane.turn(request?.caller ?? '', () => request?.isOver === true);
  request?.requireClient();
}

/** Rows from which making an answer counts as heavy work. */
const heavyRows = 250;

/** As `nextTurn`, before so many rows are made; at once where they are few. */
export async function turnFor(rows: number): Promise<void> {
  if (rows >= heavyRows) await nextTurn();
}
