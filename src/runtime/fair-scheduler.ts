/** Parts of a lane. */
export interface LaneParts {
  /** Monotonic, ms. */
  now: () => number;
}

/** Statistics of a process's heavy work. */
export interface LaneStats {
  /** Pieces that wait now. */
  waiting: number;
  /** Pieces that ran. */
  pieces: number;
}

/** Where heavy work of the whole process runs, a piece at a time. */
export interface Lane {
  /**
   * Resolves when the caller's next piece may run: one per iteration of the event loop, callers alternate, after light
   * requests. A piece whose `isOver` is true when it is next takes no iteration.
   */
  turn(caller: string, isOver?: () => boolean): Promise<void>;
  /** A light request begins; heavy pieces wait until the function is called, but not for long. */
  light(): () => void;
  stats(): LaneStats;
}

/** A light request older than this no longer holds heavy work back, ms: it waits for something else. */
const lightMs = 50;
/** A heavy piece runs after this time, regardless of the number of light requests, ms. */
const starvedMs = 10;

interface Waiting {
  run: () => void;
  isOver: () => boolean;
}

/** Makes the lane of a process. */
export function createLane({ now }: LaneParts): Lane {
  // By caller, in the order in which they come next.
  const waiting = new Map<string, Waiting[]>();
  // In the order in which they began.
  const light = new Set<{ since: number }>();
  let lastRan = -Infinity;
  let pieces = 0;
  let count = 0;
  let immediate: NodeJS.Immediate | null = null;
  let timer: NodeJS.Timeout | null = null;

  /** Ms until a piece may run; 0 = now. */
  function heldFor(): number {
    const at = now();
    for (const request of light) {
      if (at - request.since < lightMs) break;
      light.delete(request);
    }
    return light.size === 0 ? 0 : Math.max(0, lastRan + starvedMs - at);
  }

  function runNext(): void {
    for (const [caller, queue] of waiting) {
      const over: Waiting[] = [];
      let next = queue.shift();
      while (next?.isOver()) {
        over.push(next);
        next = queue.shift();
      }
      count -= over.length + (next ? 1 : 0);
      // To the end of the line of callers.
      waiting.delete(caller);
      if (queue.length > 0) waiting.set(caller, queue);
      for (const { run } of over) run();
      if (!next) continue;
      pieces++;
      lastRan = now();
      next.run();
      return;
    }
  }

  function look(): void {
    immediate = null;
    if (heldFor() === 0) runNext();
    schedule();
  }

  function lookLater(): void {
    timer = null;
    schedule();
  }

  function schedule(): void {
    if (count === 0 || immediate !== null) return;
    const held = heldFor();
    if (held === 0) immediate = setImmediate(look);
    else if (timer === null) timer = setTimeout(lookLater, held);
  }

  return {
    turn(caller, isOver = () => false) {
      return new Promise((run) => {
        const queue = waiting.get(caller);
        if (queue) queue.push({ run, isOver });
        else waiting.set(caller, [{ run, isOver }]);
        count++;
        schedule();
      });
    },
    light() {
      const request = { since: now() };
      light.add(request);
      return () => {
        if (light.delete(request) && light.size === 0) schedule();
      };
    },
    stats: () => ({ waiting: count, pieces }),
  };
}
