import { isId, isStorableText, maxIdLength } from '../domain/account.ts';
import { invalidParameter } from '../domain/failure.ts';
import type { Store } from './connection.ts';
import { inTransaction } from './transaction.ts';

/** Lists of an account, and symbols of a list, at most (contract-notes 2). */
export const watchlistLimits = { lists: 200, symbols: 500, nameLength: 500 };

/** A watchlist (spec 2.17). */
export interface Watchlist {
  /** Chosen by the client. */
  id: string;
  name: string;
  /** Tickers in the order they were sent. */
  symbols: string[];
}

/** The watchlists of an account, oldest first. */
export async function listWatchlists(store: Store, accountId: string): Promise<Watchlist[]> {
  const { rows } = await store.pool.query<Watchlist>({
    name: 'watchlists',
    text: 'select id, name, symbols from watchlists where account_id = $1 order by created_at, id',
    values: [accountId],
  });
  return rows;
}

function check({ id, name, symbols }: Watchlist): void {
  if (!isId(id)) throw invalidParameter('id', `expected 1 to ${maxIdLength} characters without control characters`);
  if (name.length > watchlistLimits.nameLength || !isStorableText(name)) {
    throw invalidParameter('name', `expected text of at most ${watchlistLimits.nameLength} characters`);
  }
  if (symbols.length > watchlistLimits.symbols) {
    throw invalidParameter('symbols', `expected at most ${watchlistLimits.symbols} symbols, got ${symbols.length}`);
  }
}

/**
 * Stores a list, replacing the one of that id. Throws 400 when it is too large, or when it would be one list too many, however
 * many are stored at once. Whether its symbols may be read is the caller's to check.
 */
export async function putWatchlist(
  store: Store,
  accountId: string,
  watchlist: Watchlist,
  nowMs: number,
): Promise<Watchlist> {
  check(watchlist);
  return inTransaction(store, async (tx) => {
    // New lists of one account wait for each other, or two could both be the last that fits.
    await tx.query(`select pg_advisory_xact_lock(hashtextextended('watchlists ' || $1, 0))`, [accountId]);
    const { rows } = await tx.query<Watchlist>(
      `insert into watchlists as w (account_id, id, name, symbols, created_at, updated_at)
       select $1, $2, $3, $4, $5::bigint, $5
       where (select count(*) from watchlists where account_id = $1 and id <> $2) < $6
       on conflict (account_id, id) do update set name = excluded.name, symbols = excluded.symbols,
         updated_at = excluded.updated_at
       returning id, name, symbols`,
      [accountId, watchlist.id, watchlist.name, watchlist.symbols, nowMs, watchlistLimits.lists],
    );
    if (!rows[0])
      throw invalidParameter('id', `the account has ${watchlistLimits.lists} watchlists already, the most it can have`);
    return rows[0];
  });
}

/** Deletes a list; false = the account has none of that id. */
export async function deleteWatchlist(store: Store, accountId: string, id: string): Promise<boolean> {
  if (!isId(id)) return false;
  const { rowCount } = await store.pool.query('delete from watchlists where account_id = $1 and id = $2', [
    accountId,
    id,
  ]);
  return rowCount === 1;
}
