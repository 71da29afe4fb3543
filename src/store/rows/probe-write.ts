import type { Store } from './connection.ts';
import { inTransaction } from './transaction.ts';

const key = 'write_probe';
/** Maximum age of a probe's result, ms: more frequent callers share one probe. */
const knownForMs = 5000;

/**
 * Writes one small row and commits, unless that was done a short time ago. Never throws: the result is in
 * `store.writes`.
 */
export function writeProbe(store: Store, elapsed: () => number): () => Promise<void> {
  let atMs = Number.NEGATIVE_INFINITY;
  let running: Promise<void> | null = null;
  async function probe(): Promise<void> {
    const value = String(Math.floor(elapsed()));
    try {
      await inTransaction(store, (tx) =>
        tx.prisma.metadataEntry.upsert({ where: { key }, create: { key, value }, update: { value } }),
      );
      store.writes.wrote('probe', null);
      // Earlier failures of clients are over.
      store.writes.wrote('transactions', null);
    } catch (error) {
      store.writes.wrote('probe', error);
    } finally {
      atMs = elapsed();
      running = null;
    }
  }
  return () => {
    if (running === null && elapsed() - atMs >= knownForMs) running = probe();
    return running ?? Promise.resolve();
  };
}
