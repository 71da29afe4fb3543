import type { Transaction } from '../rows/transaction.ts';
import { lockAccount } from './accounts.ts';

/** The account of the sample market's key. */
export const sampleAccount = 'sample';
/** The name of that key in the list of keys. */
export const sampleKeyName = 'sample market';

/** The message when the sample market's key is revoked. */
export const sampleKeyEnded =
  'the sample key no longer works: create an account with tapegraph account set, and a key with tapegraph key create --account <id>';

/** Revokes the sample market's keys. Returns their number; null = the sample market never had one. */
export async function revokeSampleKeys(tx: Transaction, nowMs: number): Promise<number | null> {
  // Serialized with a server that creates such a key at the same time.
  if (!(await lockAccount(tx, sampleAccount))) return null;
  const { count } = await tx.prisma.apiKey.updateMany({
    where: { accountId: sampleAccount, name: sampleKeyName, revokedAt: null },
    data: { revokedAt: nowMs },
  });
  return count;
}
