/** What is to be undone when something ends, such as a request. */
export interface Lifetime {
  /** Runs `undo` at the end, or at once when it has ended already. */
  onEnd(undo: () => void): void;
  /** Ends it; a second time does nothing. */
  end(): void;
}

/** A lifetime that has not ended. */
export function lifetime(): Lifetime {
  let undos: (() => void)[] | null = [];
  return {
    onEnd: (undo) => (undos === null ? undo() : void undos.push(undo)),
    end: () => {
      const ended = undos ?? [];
      undos = null;
      for (const undo of ended) undo();
    },
  };
}
