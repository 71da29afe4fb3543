import { setTimeout as delay } from 'node:timers/promises';

const steps = new Set<() => Promise<void>>();

/** Runs `step` when the process gets a second signal to end, until the returned function is called. */
export function beforeSuddenEnd(step: () => Promise<void>): () => void {
  steps.add(step);
  return () => void steps.delete(step);
}

/** Runs the registered steps, concurrently, for `withinMs` at most. Never rejects. */
export async function runBeforeSuddenEnd(withinMs: number): Promise<void> {
  const all = Promise.allSettled([...steps].map((step) => step()));
  await Promise.race([all, delay(withinMs)]);
}
