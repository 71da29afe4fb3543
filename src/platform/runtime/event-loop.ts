import { currentRequest, RequestScope } from './request-scope.ts';

/** Dependencies of a lane. */
interface LaneParts {
  /** Monotonic, ms. */
  now: () => number;
}

/** Statistics of a process's heavy work. */
interface LaneStats {
  /** Number of waiting slices. */
  waiting: number;
  /** Number of slices that ran. */
  pieces: number;
}

/** A light request older than this no longer holds heavy work back, ms: it waits for something else. */
const lightMs = 50;
/** Longest time for which light requests hold a heavy slice back, ms. */
const starvedMs = 10;

interface Waiting {
  run: () => void;
  isOver: () => boolean;
}

/** Takes the first piece that is not over out of a queue; `over` = those before it. */
function takeFirst(queue: Waiting[]): { over: Waiting[]; next: Waiting | undefined } {
  const over: Waiting[] = [];
  let next = queue.shift();
  while (next?.isOver()) {
    over.push(next);
    next = queue.shift();
  }
  return { over, next };
}

/** Where heavy work of the whole process runs, a piece at a time. */
export class Lane {
  readonly #now: () => number;
  // By caller, in the order in which they come next.
  readonly #waiting = new Map<string, Waiting[]>();
  // In the order in which they began.
  readonly #light = new Set<{ since: number }>();
  #lastRan = -Infinity;
  #pieces = 0;
  /** Pieces that wait. */
  #count = 0;
  #immediate: NodeJS.Immediate | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor({ now }: LaneParts) {
    this.#now = now;
  }

  /**
   * Resolves when the caller's next piece may run: one per iteration of the event loop, callers alternate, after light
   * requests. A piece whose `isOver` is true when it is next takes no iteration.
   */
  turn(caller: string, isOver: () => boolean = () => false): Promise<void> {
    return new Promise((run) => {
      const queue = this.#waiting.get(caller);
      if (queue) queue.push({ run, isOver });
      else this.#waiting.set(caller, [{ run, isOver }]);
      this.#count++;
      this.#schedule();
    });
  }

  /** A light request begins; heavy pieces wait until the function is called, but not for long. */
  light(): () => void {
    const request = { since: this.#now() };
    this.#light.add(request);
    return () => {
      if (this.#light.delete(request) && this.#light.size === 0) this.#schedule();
    };
  }

  stats(): LaneStats {
    return { waiting: this.#count, pieces: this.#pieces };
  }

  #schedule(): void {
    if (this.#count === 0 || this.#immediate !== null) return;
    const heldMs = this.#heldMs();
    if (heldMs === 0) this.#immediate = setImmediate(() => this.#look());
    else this.#timer ??= setTimeout(() => this.#lookLater(), heldMs);
  }

  #look(): void {
    this.#immediate = null;
    if (this.#heldMs() === 0) this.#runNext();
    this.#schedule();
  }

  #lookLater(): void {
    this.#timer = null;
    this.#schedule();
  }

  /** Ms until a piece may run; 0 = now. */
  #heldMs(): number {
    const at = this.#now();
    for (const request of this.#light) {
      if (at - request.since < lightMs) break;
      this.#light.delete(request);
    }
    return this.#light.size === 0 ? 0 : Math.max(0, this.#lastRan + starvedMs - at);
  }

  #runNext(): void {
    for (const [caller, queue] of this.#waiting) {
      const { over, next } = takeFirst(queue);
      this.#count -= over.length + (next ? 1 : 0);
      // To the end of the line of callers.
      this.#waiting.delete(caller);
      if (queue.length > 0) this.#waiting.set(caller, queue);
      for (const { run } of over) run();
      if (!next) continue;
      this.#pieces++;
      this.#lastRan = this.#now();
      next.run();
      return;
    }
  }
}

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
