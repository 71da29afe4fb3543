import type { Store } from '../rows/connection.ts';
import { numbered } from '../rows/models/numbered-rows.ts';
import type { Row } from '../rows/models/row-values.ts';
import { statement } from '../rows/statement.ts';
import { inTransaction, type Transaction } from '../rows/transaction.ts';
import { lockAccount } from './accounts.ts';

/** A stored API key, without the key itself. Times are epoch ms; `lastUsedAt` is up to a few seconds late. */
export type ApiKeyRow = Row<'ApiKey'>;

/**
 * Stores a new key. `maxLive` bounds the account's keys that are neither revoked nor expired, also under concurrency;
 * `full` = the limit is reached; `no-account` = no such account.
 */
export async function insertApiKey(
  store: Store,
  row: ApiKeyRow,
  maxLive: number,
): Promise<'stored' | 'full' | 'no-account'> {
  const { accountId, createdAt } = row;
  return inTransaction(store, async (tx) => {
    // Serialized per account; otherwise two keys could both be the last that fits.
    if (!(await lockAccount(tx, accountId))) return 'no-account';
    const live = { accountId, revokedAt: null, OR: [{ expiresAt: null }, { expiresAt: { gt: createdAt } }] };
    if ((await tx.prisma.apiKey.count({ where: live })) >= maxLive) return 'full';
    await tx.prisma.apiKey.create({ data: row });
    return 'stored';
  });
}

/** The key with that hash, even if revoked or expired; null = none. */
export async function findApiKey(store: Store, hash: string): Promise<ApiKeyRow | null> {
  const row = await store.prisma.apiKey.findUnique({ where: { hash } });
  return row && numbered(row);
}

/** The keys of an account, or of all with null, oldest first. */
export async function listApiKeys(store: Store, accountId: string | null): Promise<ApiKeyRow[]> {
  const rows = await store.prisma.apiKey.findMany({
    where: accountId === null ? {} : { accountId },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
  return rows.map(numbered);
}

/** Revokes a key of an account, or of any with null. Returns its hash; null = no such key, or already revoked. */
export async function revokeApiKey(
  store: Store,
  id: string,
  accountId: string | null,
  nowMs: number,
): Promise<string | null> {
  const [revoked] = await store.prisma.apiKey.updateManyAndReturn({
    where: { id, revokedAt: null, ...(accountId !== null && { accountId }) },
    data: { revokedAt: nowMs },
    select: { hash: true },
  });
  return revoked?.hash ?? null;
}

const touching = statement('account/touch-api-keys', { ids: 'text[]', times: 'int8[]' }, {});

/** Records when keys were last used: epoch ms by key id. An earlier time than the stored one is ignored. */
export async function touchApiKeys(store: Store, usedAt: ReadonlyMap<string, number>): Promise<void> {
  await touching.count(store.pool, { ids: [...usedAt.keys()], times: [...usedAt.values()] });
}

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
