import type { ImportResult, NewTrade, RowError } from '../domain/journal.ts';
import type { Store } from './connection.ts';
import { inTransaction, type Transaction } from './transaction.ts';

/** An import to be carried out. */
export interface JournalImport {
  accountId: string;
  importId: string;
  trades: readonly NewTrade[];
  /** Rows that could not be read, in order. */
  errors: readonly RowError[];
}

/** The result of an earlier import of that id; null = there was none. */
export async function findImport(
  store: Store | Transaction,
  accountId: string,
  importId: string,
): Promise<ImportResult | null> {
  const connection = 'pool' in store ? store.pool : store;
  const { rows } = await connection.query<ImportResult>(
    'select created, skipped, errors from journal_imports where account_id = $1 and import_id = $2',
    [accountId, importId],
  );
  return rows[0] ?? null;
}

/**
 * Imports the trades and stores the result in one transaction: a crash leaves both or neither. An `importId` that was used before
 * imports nothing and gives the first result, also when both come at the same time.
 */
export async function importTrades(
  store: Store,
  request: JournalImport,
  newId: () => string,
  nowMs: number,
): Promise<ImportResult> {
  const { accountId, importId, trades, errors } = request;
  return inTransaction(store, async (tx) => {
    // Imports of one account wait for each other: the second of the same id finds the first's result, and two of different
    // ids that share trades cannot wait for each other in a circle.
    await lockJournal(tx, accountId);
    const earlier = await findImport(tx, accountId, importId);
    if (earlier) return earlier;
    let created = 0;
    // In slices, so that preparing a large import never holds up other requests for long.
    for (let start = 0; start < trades.length; start += sliceLength) {
      const slice = trades.slice(start, start + sliceLength);
      await addJournalAccounts(tx, accountId, slice, nowMs);
      created += await addTrades(tx, accountId, slice, newId, nowMs);
    }
    const result = { created, skipped: trades.length - created, errors: [...errors] };
    await tx.query(
      `insert into journal_imports (account_id, import_id, created, skipped, errors, created_at)
       values ($1, $2, $3, $4, $5, $6)`,
      [accountId, importId, result.created, result.skipped, JSON.stringify(result.errors), nowMs],
    );
    return result;
  });
}

const sliceLength = 1000;

/** Makes others that write to the journal wait for the transaction's end. */
export async function lockJournal(tx: Transaction, accountId: string): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtextextended('journal ' || $1, 0))`, [accountId]);
}

/** Makes the journal accounts that trades name and the journal has not, each of that id and name. */
export async function addJournalAccounts(
  tx: Transaction,
  accountId: string,
  trades: readonly Pick<NewTrade, 'journalAccountId'>[],
  nowMs: number,
): Promise<void> {
  const ids = [...new Set(trades.map((trade) => trade.journalAccountId))].sort();
  await tx.query(
    `insert into journal_accounts (account_id, id, name, broker, created_at)
     select $1, id, id, null, $3 from unnest($2::text[]) as seen(id) on conflict (account_id, id) do nothing`,
    [accountId, ids, nowMs],
  );
}

/** Adds what the journal does not have yet, earlier rows first, and returns how many that were. */
async function addTrades(
  tx: Transaction,
  accountId: string,
  trades: readonly NewTrade[],
  newId: () => string,
  nowMs: number,
): Promise<number> {
  const { rowCount } = await tx.query(
    `insert into journal_trades (account_id, id, journal_account_id, symbol, side, qty, price, ts_ms, note, created_at)
     select $1, id, journal_account_id, symbol, side, qty, price, ts_ms, note, $10
     from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::float8[], $7::float8[], $8::bigint[], $9::text[])
       with ordinality as t(id, journal_account_id, symbol, side, qty, price, ts_ms, note, place)
     order by place on conflict (account_id, id) do nothing`,
    [
      accountId,
      trades.map((trade) => trade.id ?? newId()),
      trades.map((trade) => trade.journalAccountId),
      trades.map((trade) => trade.symbol),
      trades.map((trade) => trade.side),
      trades.map((trade) => trade.qty),
      trades.map((trade) => trade.price),
      trades.map((trade) => trade.tsMs),
      trades.map((trade) => trade.note),
      nowMs,
    ],
  );
  return rowCount ?? 0;
}
