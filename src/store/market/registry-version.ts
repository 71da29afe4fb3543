import { lock } from '../rows/locks.ts';
import { readMetadata, writeMetadata } from '../rows/metadata.ts';
import type { Reader } from '../rows/reader.ts';
import type { Transaction } from '../rows/transaction.ts';

const versionKey = 'symbols_version';

/** The registry's version: increases by one with every change to symbols or roots; 0 for an empty store. */
export async function registryVersion(from: Pick<Reader, 'prisma'>): Promise<number> {
  return Number((await readMetadata(from, versionKey)) ?? 0);
}

/** Writes to the registry, inside the caller's transaction. Returns the number of changed rows, like `write`. */
export async function changeRegistry(tx: Transaction, write: () => Promise<number>): Promise<number> {
  // Serialized: each writer also increases the version, so two could deadlock.
  await lock(tx, 'symbols');
  const changed = await write();
  if (changed > 0) await writeMetadata(tx, versionKey, String((await registryVersion(tx)) + 1));
  return changed;
}

/** Increases the registry's version, so that every process reads it again. */
export async function raiseRegistryVersion(tx: Transaction): Promise<void> {
  await changeRegistry(tx, async () => 1);
}
