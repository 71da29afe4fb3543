import type { JournalAccount } from '../../domain/journal/journal.ts';
import type { Store } from '../rows/connection.ts';
import { anyOf } from '../rows/models/any-of.ts';
import { insertRows } from '../rows/models/sets.ts';
import { statement } from '../rows/statement.ts';
import { inTransaction } from '../rows/transaction.ts';
import { type OwnJournal, writeJournal } from './journal-writes.ts';

const select = { id: true, name: true, broker: true } as const;

/** Journal accounts of an account ascending by id, `limit` of them after `after` (null = from the first). */
export async function listJournalAccounts(
  store: Store,
  accountId: string,
  after: string | null,
  limit: number,
): Promise<JournalAccount[]> {
  const where = { accountId, ...(after !== null && { id: { gt: after } }) };
  return store.prisma.journalAccount.findMany({ where, orderBy: { id: 'asc' }, take: limit, select });
}

/** The journal accounts of these ids; those that are not there are omitted. */
export async function findJournalAccounts(
  store: Store,
  accountId: string,
  ids: readonly string[],
): Promise<JournalAccount[]> {
  return store.prisma.journalAccount.findMany({ where: { accountId, id: anyOf(ids) }, select });
}

/** Stores a new journal account; false = there is one of that id. */
export async function insertJournalAccount(
  store: Store,
  journal: OwnJournal,
  account: JournalAccount,
  nowMs: number,
): Promise<boolean> {
  const row = { accountId: journal.accountId, ...account, createdAt: nowMs };
  return writeJournal(store, journal, async (tx) => {
    const added = await insertRows(tx, 'JournalAccount', [row]);
    return { result: added === 1, added };
  });
}

const locking = statement('locks/lock-journal-account', { accountId: 'text', id: 'text' }, { id: 'text' });

/**
 * Replaces a journal account by the result of `change`; null = there is none of that id. What `change` throws changes
 * nothing.
 */
export async function changeJournalAccount(
  store: Store,
  accountId: string,
  id: string,
  change: (current: JournalAccount) => JournalAccount,
): Promise<JournalAccount | null> {
  const where = { accountId_id: { accountId, id } };
  return inTransaction(store, async (tx) => {
    await locking.rows(tx, { accountId, id });
    const current = await tx.prisma.journalAccount.findUnique({ where, select });
    if (!current) return null;
    const { name, broker } = change(current);
    return tx.prisma.journalAccount.update({ where, data: { name, broker }, select });
  });
}

/**
 * Deletes a journal account that holds no trades. Returns the trades it holds: 0 = deleted; null = there is none of
 * that id.
 */
export async function deleteJournalAccount(store: Store, journal: OwnJournal, id: string): Promise<number | null> {
  const { accountId } = journal;
  // No trade may come in between the counting and the deleting.
  return writeJournal(store, journal, async (tx) => {
    const trades = await tx.prisma.journalTrade.count({ where: { accountId, journalAccountId: id } });
    const where = { accountId, id };
    if (trades > 0)
      return { result: (await tx.prisma.journalAccount.count({ where })) === 0 ? null : trades, added: 0 };
    const { count } = await tx.prisma.journalAccount.deleteMany({ where });
    return { result: count === 0 ? null : 0, added: -count };
  });
}
