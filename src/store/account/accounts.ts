import type { Account as AccountRow } from '../../../generated/store/client.ts';
import { type Account, newAccountTiers } from '../../core/domain/account.ts';
import type { Classification, Tier } from '../../platform/config/tiers.ts';
import type { Store } from '../rows/connection.ts';
import { numbered } from '../rows/models/numbered-rows.ts';
import { insertRows } from '../rows/models/sets.ts';
import { statement } from '../rows/statement.ts';
import { inTransaction, type Transaction } from '../rows/transaction.ts';

/** Changes of an account; absent fields are unchanged. */
export interface AccountChange {
  siteTier?: Tier | undefined;
  apiTier?: Tier | undefined;
  /** Null withdraws the declaration. */
  classification?: Classification | null | undefined;
}

// Rows were validated when they were written.
const accountOf = (row: AccountRow) => numbered(row) as Account;

/** The account with that id; null = none. */
export async function findAccount(store: Store, id: string): Promise<Account | null> {
  const row = await store.prisma.account.findUnique({ where: { id } });
  return row && accountOf(row);
}

/** Every account, by id. */
export async function listAccounts(store: Store): Promise<Account[]> {
  return (await store.prisma.account.findMany({ orderBy: { id: 'asc' } })).map(accountOf);
}

/** The account with that id, created with the lowest tiers if necessary. */
export async function ensureAccount(store: Store, id: string, nowMs: number): Promise<Account> {
  return (await findAccount(store, id)) ?? setAccount(store, id, {}, nowMs);
}

const locking = statement('locks/lock-account', { id: 'text' }, { id: 'text' });

/** Locks an account's row until the transaction ends; false = no such account. */
export async function lockAccount(tx: Transaction, id: string): Promise<boolean> {
  return (await locking.rows(tx, { id })).length === 1;
}

/** Creates or changes an account and returns it. A new account has the lowest tier and no classification by default. */
export async function setAccount(store: Store, id: string, change: AccountChange, nowMs: number): Promise<Account> {
  return inTransaction(store, async (tx) => {
    const blank = { ...newAccountTiers, classification: null, classifiedAt: null, createdAt: nowMs };
    await insertRows(tx, 'Account', [{ id, ...blank }]);
    await lockAccount(tx, id);
    const current = await tx.prisma.account.findUniqueOrThrow({ where: { id } });
    const { siteTier = current.siteTier, apiTier = current.apiTier, classification = current.classification } = change;
    const classifiedAt = classification === null ? null : nowMs;
    const isRepeated = classification === current.classification;
    const data = { siteTier, apiTier, classification, ...(!isRepeated && { classifiedAt }) };
    return accountOf(await tx.prisma.account.update({ where: { id }, data }));
  });
}

/**
 * Records an account's declaration and returns the account. `professional` is final, and repeating a declaration does
 * not change its time. Null = no such account.
 */
export async function declareClassification(
  store: Store,
  id: string,
  classification: Classification,
  nowMs: number,
): Promise<Account | null> {
  // One statement, which checks a row again if another declaration changed it in the meantime.
  await store.prisma.account.updateMany({
    where: { id, OR: [{ classification: null }, { classification: { notIn: ['professional', classification] } }] },
    data: { classification, classifiedAt: nowMs },
  });
  return findAccount(store, id);
}
