import type { Split } from '../../core/domain/market/splits.ts';
import { readFrom, type Store } from '../rows/connection.ts';
import { findAny } from '../rows/models/any-of.ts';
import { upsertRows } from '../rows/models/sets.ts';
import type { Reader } from '../rows/reader.ts';
import type { Transaction } from '../rows/transaction.ts';
import { type HeldKind, readHeld } from '../versions/versioned-cache.ts';

const heldSplits: HeldKind<readonly Split[]> = {
  subject: 'corporate',
  name: 'splits',
  bytesOf: (splits) => 100 + 100 * splits.length,
};

/** The splits of symbols, ascending by ex-date, inside the caller's transaction; a symbol without any is absent. */
export async function splitsIn(
  { prisma }: Pick<Reader, 'prisma'>,
  symbols: readonly string[],
): Promise<Map<string, Split[]>> {
  const rows = await findAny(symbols, (symbol) =>
    prisma.split.findMany({ where: { symbol }, orderBy: { exDate: 'asc' } }),
  );
  return Map.groupBy(rows, ({ symbol }) => symbol);
}

/**
 * The splits of symbols, ascending by ex-date; a symbol without any is absent. One statement for up to 250, none if all
 * are cached.
 */
export function readSplits(store: Store, symbols: readonly string[]): Promise<Map<string, readonly Split[]>> {
  const asked = symbols.map((symbol) => ({ symbol }));
  return readHeld(store, heldSplits, asked, (missing) =>
    splitsIn(
      readFrom(store, 'corporate', symbols),
      missing.map(({ symbol }) => symbol),
    ),
  );
}

/** All stored splits, by symbol, then ex-date; those of one symbol unless that is null. */
export function allSplits({ prisma }: Store, symbol: string | null): Promise<Split[]> {
  const where = symbol === null ? {} : { symbol };
  return prisma.split.findMany({ where, orderBy: [{ symbol: 'asc' }, { exDate: 'asc' }] });
}

/**
 * Inserts or replaces splits, inside the caller's transaction; no two may have the same symbol and ex-date. Returns the
 * number that are new or different.
 */
export function saveSplits(tx: Transaction, splits: readonly Split[]): Promise<number> {
  return upsertRows(tx, 'Split', splits, { ifDifferent: ['ratio', 'declared'] });
}
