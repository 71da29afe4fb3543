import { isId, maxIdLength } from '../../core/domain/account.ts';
import { isStorableText } from '../../platform/runtime/storable-text.ts';
import { invalidParameter } from '../../platform/wire/failure.ts';
import type { Store } from '../rows/connection.ts';
import type { Row } from '../rows/models/row-values.ts';
import { inTransaction, type Transaction } from '../rows/transaction.ts';

/** Maximum number of lists of an account, and of symbols of a list (contract-notes 2). */
export const watchlistLimits = { lists: 200, symbols: 500, nameLength: 500 };

/** A watchlist (spec 2.17): its id is the client's choice, its symbols are in the order sent. */
export type Watchlist = Pick<Row<'Watchlist'>, 'id' | 'name' | 'symbols'>;

const select = { id: true, name: true, symbols: true } as const;

/** The watchlists of an account, oldest first. */
export async function listWatchlists(store: Store, accountId: string): Promise<Watchlist[]> {
  const orderBy = [{ createdAt: 'asc' as const }, { id: 'asc' as const }];
  return store.prisma.watchlist.findMany({ where: { accountId }, orderBy, select });
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
 * Stores a list, replacing the one with that id. Throws 400 if it is too large, or exceeds the number of lists, also
 * under concurrency. The caller checks whether its symbols may be read.
 */
export async function putWatchlist(
  store: Store,
  accountId: string,
  watchlist: Watchlist,
  nowMs: number,
): Promise<Watchlist> {
  check(watchlist);
  const { id, name, symbols } = watchlist;
  const work = async (tx: Transaction) => {
    const others = await tx.prisma.watchlist.count({ where: { accountId, id: { not: id } } });
    if (others >= watchlistLimits.lists)
      throw invalidParameter('id', `the account has ${watchlistLimits.lists} watchlists, the maximum`);
    const change = { name, symbols: [...symbols], updatedAt: nowMs };
    return tx.prisma.watchlist.upsert({
      where: { accountId_id: { accountId, id } },
      create: { accountId, id, createdAt: nowMs, ...change },
      update: change,
      select,
    });
  };
  // Serialized per account; otherwise two lists could both be the last that fits.
  return inTransaction(store, work, { lock: `watchlists ${accountId}` });
}

/** Deletes a list; false = the account has none with that id. */
export async function deleteWatchlist(store: Store, accountId: string, id: string): Promise<boolean> {
  if (!isId(id)) return false;
  const { count } = await store.prisma.watchlist.deleteMany({ where: { accountId, id } });
  return count === 1;
}
