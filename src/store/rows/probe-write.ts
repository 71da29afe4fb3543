import { randomBytes } from 'node:crypto';
import type { Store } from './connection.ts';
import { inTransaction } from './transaction.ts';
import { transactionsOf } from './write-watch.ts';

const key = 'write_probe';
/** Maximum age of a probe's result, ms: more frequent callers share one probe. */
const knownForMs = 5000;

/** Bytes that stand for a large write, random, since the database compresses others. */
const largeBytes = 1024 * 1024;

/**
 * Writes one small row and commits, unless that was done a short time ago; after a large write failed, also as much as
 * one. Never throws: the result is in `store.writes`.
 */
export function writeProbe(store: Store, elapsed: () => number): () => Promise<void> {
  let atMs = Number.NEGATIVE_INFINITY;
  let running: Promise<void> | null = null;
  const write = (value: string) =>
    inTransaction(store, (tx) =>
      tx.prisma.metadataEntry.upsert({ where: { key }, create: { key, value }, update: { value } }),
    );
  async function probe(): Promise<void> {
    const { writes } = store;
    const small = String(Math.floor(elapsed()));
    try {
      await write(small);
      writes.wrote('probe', null);
      // Earlier failures of clients are over, of their size.
      writes.wrote(transactionsOf(0), null);
      if (!writes.failing().has(transactionsOf(largeBytes))) return;
      // Its success is recorded as that of any transaction of its size.
      await write(randomBytes(largeBytes / 2).toString('hex')).then(() => write(small));
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
