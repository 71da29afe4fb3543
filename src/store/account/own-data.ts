import type { Clock } from '../../runtime/clock.ts';
import type { Store } from '../engine/connection.ts';
import { readMetadata } from '../engine/metadata.ts';
import { inTransaction, type Transaction } from '../engine/transaction.ts';
import { lockAccount } from './accounts.ts';

/** The account that the sample market's key belongs to. */
export const sampleAccount = 'sample';
/** The name of that key, in the list of keys. */
export const sampleKeyName = 'sample market';

/** What is said when the sample market's key stops working. */
export const sampleKeyEnded =
  'the sample key no longer works: create an account with tapegraph account set, and a key with tapegraph key create --account <id>';

const fact = 'own_data';

// Files of the sample market and the starter registry, as they were remembered before the fact above was kept.
const bundledFile = /[\\/](sample[\\/][a-z-]+([\\/][^\\/]+){1,2}\.csv\.gz|starter-registry\.csv)$/;

async function revokeSampleKeys(tx: Transaction, nowMs: number): Promise<number> {
  // Serialized with a server that creates such a key at the same time.
  if (!(await lockAccount(tx, sampleAccount))) return 0;
  const { count } = await tx.prisma.apiKey.updateMany({
    where: { accountId: sampleAccount, name: sampleKeyName, revokedAt: null },
    data: { revokedAt: nowMs },
  });
  return count;
}

/**
 * Notes, in the transaction that stores it, that the store holds data besides the sample market's. The first time it
 * revokes the sample market's key, which anyone who opened the pages may have. Returns whether there was one to revoke.
 */
export async function noteOwnData(tx: Transaction, now: Clock): Promise<boolean> {
  if ((await readMetadata(tx, fact)) !== null) return false;
  const nowMs = now();
  await tx.prisma.metadataEntry.createMany({ data: [{ key: fact, value: String(nowMs) }], skipDuplicates: true });
  return (await revokeSampleKeys(tx, nowMs)) > 0;
}

/** Whether anything but the sample market was ever stored. */
export async function holdsOwnData(store: Store): Promise<boolean> {
  if ((await readMetadata(store, fact)) !== null) return true;
  const files = await store.prisma.ingestedFile.findMany({ select: { name: true }, distinct: ['name'] });
  return files.some(({ name }) => !bundledFile.test(name));
}

/**
 * Revokes the sample market's key where the store holds other data, also of an earlier version. Returns whether it
 * holds any.
 */
export function endSampleKey(store: Store, now: Clock): Promise<boolean> {
  return inTransaction(store, async (tx) => {
    if (!(await holdsOwnData(store))) return false;
    await noteOwnData(tx, now);
    await revokeSampleKeys(tx, now());
    return true;
  });
}
