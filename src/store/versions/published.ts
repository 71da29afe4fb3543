/** Condition on captures of chains and of GEX: those that are published. */
export const published = { OR: [{ subset: false }, { subset: null }] };

/** The last capture as of an instant, as found by a statement. */
interface FoundAsOf {
  /** Epoch ms; null = none. */
  capturedAt: number | null;
  subset: boolean | null;
  /** The time of the last capture as of the requested instant, and of the next one, including subsets. */
  lastMs: number | null;
  nextMs: number | null;
}

/**
 * The interval in which a capture is the last one: a subset only at its own instant, at which the published one before
 * it is not.
 */
export function standing({ capturedAt, subset, lastMs, nextMs }: FoundAsOf): { fromMs: number; untilMs: number } {
  if (capturedAt !== null && subset === true) return { fromMs: capturedAt, untilMs: capturedAt + 1 };
  const fromMs = lastMs === null ? Number.NEGATIVE_INFINITY : lastMs === capturedAt ? lastMs : lastMs + 1;
  return { fromMs, untilMs: nextMs ?? Number.POSITIVE_INFINITY };
}
