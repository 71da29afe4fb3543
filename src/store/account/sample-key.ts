import type { Clock } from '../../runtime/clock.ts';
import type { Store } from '../rows/connection.ts';
import { hasOwnData } from '../rows/metadata.ts';
import { inTransaction, type Transaction } from '../rows/transaction.ts';
import { beginOwnData, replacedText, sampleKept, sampleSetAside } from '../sample-data.ts';
import { lockAccount } from './accounts.ts';

/** The account of the sample market's key. */
export const sampleAccount = 'sample';
/** The name of that key in the list of keys. */
export const sampleKeyName = 'sample market';

/** The message when the sample market's key is revoked. */
export const sampleKeyEnded =
  'the sample key no longer works: create an account with tapegraph account set, and a key with tapegraph key create --account <id>';

// Paths of files of the sample market and the starter registry, as earlier releases stored them.
export const bundledFile = /[\\/](sample[\\/][a-z-]+([\\/][^\\/]+){1,2}\.csv\.gz|starter-registry\.csv)$/;
/** Paths of files of the sample market. */
export const sampleFile = /[\\/]sample[\\/][a-z-]+([\\/][^\\/]+){1,2}\.csv\.gz$/;

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
 * Records that the store gets data besides the sample market's, in the transaction that stores it and before it is
 * stored. The first time it revokes the sample market's key, which anyone who opened the pages may have, and hides the
 * sample market's data unless it is kept. `replaced`: symbols of the sample market with other data, which are hidden in
 * any case. Returns the messages about that.
 */
export async function noteOwnData(tx: Transaction, now: Clock, replaced: readonly string[] = []): Promise<string[]> {
  const nowMs = now();
  const { isFirst, aside, kept } = await beginOwnData(tx, nowMs, replaced);
  const hadKey = isFirst && (await revokeSampleKeys(tx, nowMs)) > 0;
  return [
    ...(hadKey ? [sampleKeyEnded] : []),
    ...(isFirst && kept.length > 0 ? [sampleKept] : []),
    ...(aside.length > 0 ? [kept.length > 0 ? replacedText(aside) : sampleSetAside] : []),
  ];
}

/** True if anything but the sample market was ever stored. */
export async function holdsOwnData(store: Store): Promise<boolean> {
  if (await hasOwnData(store)) return true;
  const files = await store.prisma.ingestedFile.findMany({ select: { name: true }, distinct: ['name'] });
  return files.some(({ name }) => !bundledFile.test(name));
}

/**
 * Ends the sample market if the store holds other data, also that of an earlier version: revokes its key, and hides its
 * data unless it is kept. Returns the message about that; null if the store holds no other data.
 */
export function endSample(store: Store, now: Clock): Promise<string[] | null> {
  return inTransaction(store, async (tx) => {
    if (!(await holdsOwnData(store))) return null;
    const notes = await noteOwnData(tx, now);
    await revokeSampleKeys(tx, now());
    return notes;
  });
}
