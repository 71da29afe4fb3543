/**
 * One write in progress while the next is prepared: the database works while this process continues reading, and memory
 * holds two batches at most.
 */
export interface WriteBehind {
  /**
   * Waits for the previous write, then starts `write` without waiting for it. Throws the error of the previous write.
   */
  next(write: () => Promise<void>): Promise<void>;
  /** Waits for the last write. */
  done(): Promise<void>;
}

/** Creates a write-behind. */
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
