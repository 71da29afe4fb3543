/** Maximum time for closing everything, requests in flight included, ms. Soon after, the process exits in any case. */
export const shutdownMs = 8500;

/** An opened resource, and how it is closed. */
export interface Closer {
  /** Name for the log, if it could not be closed in time. */
  name: string;
  close: () => Promise<void>;
  /**
   * Starts to end work that can end while requests in flight are still answered: streams, and background work. Must not
   * throw.
   */
  begin?: () => void;
  /** Maximum time to wait for it, ms; absent = all remaining time. */
  atMostMs?: number;
}

/** Resources that did not close in time, or failed to. */
export interface LeftBehind {
  name: string;
  reason: string;
}

async function reasonLeft(
  { close, atMostMs = Number.POSITIVE_INFINITY }: Closer,
  leftMs: number,
): Promise<string | null> {
  const late = Promise.withResolvers<string>();
  const ms = Math.max(0, Math.min(atMostMs, leftMs));
  const timer = setTimeout(() => late.resolve(`not closed within ${ms} ms`), ms);
  const closing = Promise.resolve()
    .then(close)
    .then(
      () => null,
      (error: Error) => error.message,
    );
  return Promise.race([closing, late.promise]).finally(() => clearTimeout(timer));
}

/**
 * Closes everything, the last opened first, each regardless of the others' failures, in `withinMs` in total. Never
 * throws.
 */
export async function closeAll(
  closers: readonly Closer[],
  withinMs: number,
  elapsedMs: () => number,
): Promise<LeftBehind[]> {
  const untilMs = elapsedMs() + withinMs;
  const left: LeftBehind[] = [];
  for (const closer of closers.toReversed()) {
    const reason = await reasonLeft(closer, Math.round(untilMs - elapsedMs()));
    if (reason !== null) left.push({ name: closer.name, reason });
  }
  return left;
}
