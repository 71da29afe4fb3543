/** Maximum numbers of slot holders, and of those who wait for a slot. */
export interface SlotLimits {
  /** Concurrent, of all callers together. */
  total: number;
  /** Concurrent, of one caller. */
  each: number;
  /** Waiting, of one caller. */
  waiting: number;
  /** Longest wait, ms. */
  patienceMs: number;
}

interface Waiter {
  caller: string;
  grant: (release: (() => void) | null) => void;
}

/** Slots of a process. */
export interface Slots {
  /**
   * Takes a slot, waiting for one if necessary. The returned function frees it and is idempotent. Null = too many wait,
   * or none was free in time. `whenOver` is given a function that withdraws the request for a slot.
   */
  take(caller: string, whenOver?: (giveUp: () => void) => () => void): Promise<(() => void) | null>;
  /** Slots in use, and requests that wait for one. */
  counts(): { taken: number; waiting: number };
}

/** Creates slots. They are granted in order of arrival, skipping callers at their own limit. */
export function createSlots({ total, each, waiting: mostWaiting, patienceMs }: SlotLimits): Slots {
  const taken = new Map<string, number>();
  const waiting = new Set<Waiter>();
  let count = 0;

  const ofCaller = (caller: string) => taken.get(caller) ?? 0;
  const isFree = (caller: string) => count < total && ofCaller(caller) < each;

  function grant(caller: string): () => void {
    count++;
    taken.set(caller, ofCaller(caller) + 1);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      count--;
      if (ofCaller(caller) === 1) taken.delete(caller);
      else taken.set(caller, ofCaller(caller) - 1);
      for (const waiter of waiting) if (isFree(waiter.caller)) waiter.grant(grant(waiter.caller));
    };
  }

  return {
    take(caller, whenOver) {
      if (isFree(caller)) return Promise.resolve(grant(caller));
      const before = [...waiting].filter((waiter) => waiter.caller === caller).length;
      if (before >= mostWaiting) return Promise.resolve(null);
      return new Promise((resolve) => {
        const waiter: Waiter = {
          caller,
          grant(release) {
            waiting.delete(waiter);
            clearTimeout(timer);
            forget?.();
            resolve(release);
          },
        };
        const timer = setTimeout(() => waiter.grant(null), patienceMs);
        waiting.add(waiter);
        const forget = whenOver?.(() => waiter.grant(null));
      });
    },
    counts: () => ({ taken: count, waiting: waiting.size }),
  };
}
