/** Clean-ups that run when something ends, such as a request. */
export interface Lifetime {
  /** True if it has ended. */
  readonly isOver: boolean;
  /** Runs `undo` at the end, or at once when it has ended already. The returned function takes that back. */
  onEnd(undo: () => void): () => void;
  /** Ends it; a second time does nothing. */
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
      // Each call its own entry: what is handed in twice runs twice.
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
