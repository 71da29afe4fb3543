/** Condition on captures of chains and of GEX: those that are published. */
export const published = { OR: [{ subset: false }, { subset: null }] };

/** The last at or before an instant, as a statement finds it. */
interface FoundAsOf {
  /** Epoch ms; null = there is none. */
  capturedAt: number | null;
  subset: boolean | null;
  /** When the last was captured at or before the instant that was asked for, and the next after it, subsets too. */
  lastMs: number | null;
  nextMs: number | null;
}

/**
 * From when until when a capture is the last one: a subset at its own instant alone, at which what was published before
 * it is not.
 */
export function standing({ capturedAt, subset, lastMs, nextMs }: FoundAsOf): { fromMs: number; untilMs: number } {
  if (capturedAt !== null && subset === true) return { fromMs: capturedAt, untilMs: capturedAt + 1 };
  const fromMs = lastMs === null ? Number.NEGATIVE_INFINITY : lastMs === capturedAt ? lastMs : lastMs + 1;
  return { fromMs, untilMs: nextMs ?? Number.POSITIVE_INFINITY };
}
