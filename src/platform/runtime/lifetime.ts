/** Clean-ups that run when something ends, such as a request. */
export interface Lifetime {
  /** True if it has ended. */
  readonly isOver: boolean;
  /** Runs `undo` at the end, or immediately if it has ended. The returned function removes `undo`. */
  onEnd(undo: () => void): () => void;
  /** Ends it; idempotent. */
  end(): void;
}

/** A lifetime that has not ended. */
export function lifetime(): Lifetime {
  const undos = new Set<() => void>();
  let isOver = false;
  return {
    get isOver() {
      return isOver;
    },
    onEnd(undo) {
      // Each call has its own entry: a function added twice runs twice.
      const run = () => undo();
      if (isOver) run();
      else undos.add(run);
      return () => undos.delete(run);
    },
    end() {
      if (isOver) return;
      isOver = true;
      for (const undo of undos) undo();
      undos.clear();
    },
  };
}
