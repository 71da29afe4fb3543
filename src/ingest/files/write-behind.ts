/**
 * One write in progress while the next is prepared: the database works while this process reads on, and memory holds
 * two batches at most.
 */
export interface WriteBehind {
  /**
   * Waits for the write before, then starts `write` and returns without waiting for it. Throws what the write before
   * threw.
   */
  next(write: () => Promise<void>): Promise<void>;
  /** Waits for the last write. */
  done(): Promise<void>;
}

/** A write-behind with nothing in progress. */
export function writeBehind(): WriteBehind {
  let pending: Promise<void> = Promise.resolve();
  return {
    async next(write) {
      await pending;
      pending = write();
      // Its failure is thrown at the next call; until then it must not count as unhandled.
      pending.catch(() => {});
    },
    done: () => pending,
  };
}
