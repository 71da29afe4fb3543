import type { Clock } from '../../runtime/clock.ts';
import type { Store } from '../rows/connection.ts';
import { hasOwnData } from '../rows/metadata.ts';
import { inTransaction, type Transaction } from '../rows/transaction.ts';
import { beginOwnData, replacedText, sampleKept, sampleSetAside } from '../sample-data.ts';
import { lockAccount } from './accounts.ts';

/** The account that the sample market's key belongs to. */
export const sampleAccount = 'sample';
/** The name of that key, in the list of keys. */
export const sampleKeyName = 'sample market';

/** The message when the sample market's key stops working. */
export const sampleKeyEnded =
  'the sample key no longer works: create an account with tapegraph account set, and a key with tapegraph key create --account <id>';

// Files of the sample market and the starter registry, as earlier releases stored them.
export const bundledFile = /[\\/](sample[\\/][a-z-]+([\\/][^\\/]+){1,2}\.csv\.gz|starter-registry\.csv)$/;
/** Files of the sample market. */
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
 * Notes, in the transaction that stores it and before it is stored, that the store holds data besides the sample
 * market's. The first time it revokes the sample market's key, which anyone who opened the pages may have, and sets the
 * sample market's data aside unless it is kept. `replaced`: symbols of the sample market that the data is of, which are
 * not kept. Returns what is to be said of that.
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
 * Ends the sample market where the store holds other data, also of an earlier version: revokes its key, and sets its
 * data aside unless it is kept. Returns what is to be said of that; null when the store holds no other data.
 */
export function endSample(store: Store, now: Clock): Promise<string[] | null> {
  return inTransaction(store, async (tx) => {
    if (!(await holdsOwnData(store))) return null;
    const notes = await noteOwnData(tx, now);
    await revokeSampleKeys(tx, now());
    return notes;
  });
}
