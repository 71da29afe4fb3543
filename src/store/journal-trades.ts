import type { JournalTrade } from '../domain/journal.ts';
import type { Store } from './connection.ts';
import { addJournalAccounts, lockJournal } from './journal.ts';
import { inTransaction } from './transaction.ts';

const columns = `id, journal_account_id as "journalAccountId", symbol, side, qty, price, ts_ms as "tsMs", note`;

/** A place in a journal: the trade last read. */
export interface TradePlace {
  tsMs: number;
  id: string;
}

/** Trades of an account, latest first, `limit` of them after `after` (null = from the latest). */
export async function listJournalTrades(
  store: Store,
  accountId: string,
  after: TradePlace | null,
  limit: number,
): Promise<JournalTrade[]> {
  const { rows } = await store.pool.query<JournalTrade>(
    `select ${columns} from journal_trades
     where account_id = $1 and ($2::bigint is null or ts_ms < $2 or (ts_ms = $2 and id collate "C" < $3))
     order by ts_ms desc, id collate "C" desc limit $4`,
    [accountId, after?.tsMs ?? null, after?.id ?? null, limit],
  );
  return rows;
}

/** Stores a new trade, and the journal account it names when there is none; false = there is a trade of that id. */
export async function insertJournalTrade(
  store: Store,
  accountId: string,
  trade: JournalTrade,
  nowMs: number,
): Promise<boolean> {
  return inTransaction(store, async (tx) => {
    await lockJournal(tx, accountId);
    const { rowCount } = await tx.query(
      `insert into journal_trades (account_id, id, journal_account_id, symbol, side, qty, price, ts_ms, note, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict (account_id, id) do nothing`,
      [accountId, ...values(trade), nowMs],
    );
    if (rowCount === 1) await addJournalAccounts(tx, accountId, [trade], nowMs);
    return rowCount === 1;
  });
}

function values({ id, journalAccountId, symbol, side, qty, price, tsMs, note }: JournalTrade): unknown[] {
  return [id, journalAccountId, symbol, side, qty, price, tsMs, note];
}

/** Puts what `change` makes of a trade in its place; null = there is none of that id. What `change` throws changes nothing. */
export async function changeJournalTrade(
  store: Store,
  accountId: string,
  id: string,
  change: (current: JournalTrade) => JournalTrade,
  nowMs: number,
): Promise<JournalTrade | null> {
  return inTransaction(store, async (tx) => {
    await lockJournal(tx, accountId);
    const { rows } = await tx.query<JournalTrade>(
      `select ${columns} from journal_trades where account_id = $1 and id = $2`,
      [accountId, id],
    );
    if (!rows[0]) return null;
    const trade = { ...change(rows[0]), id };
    await addJournalAccounts(tx, accountId, [trade], nowMs);
    await tx.query(
      `update journal_trades set journal_account_id = $3, symbol = $4, side = $5, qty = $6, price = $7, ts_ms = $8, note = $9
       where account_id = $1 and id = $2`,
      [accountId, ...values(trade)],
    );
    return trade;
  });
}

/** Deletes a trade; false = there is none of that id. */
export async function deleteJournalTrade(store: Store, accountId: string, id: string): Promise<boolean> {
  const { rowCount } = await store.pool.query('delete from journal_trades where account_id = $1 and id = $2', [
    accountId,
    id,
  ]);
  return rowCount === 1;
}
