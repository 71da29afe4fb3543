import type { JournalAccount } from '../domain/journal.ts';
import type { Store } from './connection.ts';
import { lockJournal } from './journal.ts';
import { inTransaction } from './transaction.ts';

const columns = 'id, name, broker';

/** Journal accounts of an account ascending by id, `limit` of them after `after` (null = from the first). */
export async function listJournalAccounts(
  store: Store,
  accountId: string,
  after: string | null,
  limit: number,
): Promise<JournalAccount[]> {
  const { rows } = await store.pool.query<JournalAccount>(
    `select ${columns} from journal_accounts where account_id = $1 and ($2::text is null or id collate "C" > $2)
     order by id collate "C" limit $3`,
    [accountId, after, limit],
  );
  return rows;
}

/** The journal accounts of these ids; those that are not there are left out. */
export async function findJournalAccounts(
  store: Store,
  accountId: string,
  ids: readonly string[],
): Promise<JournalAccount[]> {
  const { rows } = await store.pool.query<JournalAccount>(
    `select ${columns} from journal_accounts where account_id = $1 and id = any($2)`,
    [accountId, ids],
  );
  return rows;
}

/** Stores a new journal account; false = there is one of that id. */
export async function insertJournalAccount(
  store: Store,
  accountId: string,
  { id, name, broker }: JournalAccount,
  nowMs: number,
): Promise<boolean> {
  const { rowCount } = await store.pool.query(
    `insert into journal_accounts (account_id, id, name, broker, created_at) values ($1, $2, $3, $4, $5)
     on conflict (account_id, id) do nothing`,
    [accountId, id, name, broker, nowMs],
  );
  return rowCount === 1;
}

/** Puts what `change` makes of a journal account in its place; null = there is none of that id. What `change` throws changes nothing. */
export async function changeJournalAccount(
  store: Store,
  accountId: string,
  id: string,
  change: (current: JournalAccount) => JournalAccount,
): Promise<JournalAccount | null> {
  return inTransaction(store, async (tx) => {
    const { rows } = await tx.query<JournalAccount>(
      `select ${columns} from journal_accounts where account_id = $1 and id = $2 for update`,
      [accountId, id],
    );
    if (!rows[0]) return null;
    const { name, broker } = change(rows[0]);
    await tx.query('update journal_accounts set name = $3, broker = $4 where account_id = $1 and id = $2', [
      accountId,
      id,
      name,
      broker,
    ]);
    return { id, name, broker };
  });
}

/** Deletes a journal account that holds no trades. Returns the trades it holds: 0 = deleted; null = there is none of that id. */
export async function deleteJournalAccount(store: Store, accountId: string, id: string): Promise<number | null> {
  return inTransaction(store, async (tx) => {
    // No trade may come in between the counting and the deleting.
    await lockJournal(tx, accountId);
    const { rows } = await tx.query<{ trades: number }>(
      `select (select count(*) from journal_trades t where t.account_id = a.account_id and t.journal_account_id = a.id)::int as trades
       from journal_accounts a where account_id = $1 and id = $2`,
      [accountId, id],
    );
    if (!rows[0]) return null;
    if (rows[0].trades === 0) {
      await tx.query('delete from journal_accounts where account_id = $1 and id = $2', [accountId, id]);
    }
    return rows[0].trades;
  });
}
