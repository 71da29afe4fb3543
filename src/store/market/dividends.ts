import type { Dividend, DividendKind } from '../../core/domain/market/dividends.ts';
import { readFrom, type Store } from '../rows/connection.ts';
import { findAny } from '../rows/models/any-of.ts';
import type { Row } from '../rows/models/row-values.ts';
import { upsertRows } from '../rows/models/sets.ts';
import type { Reader } from '../rows/reader.ts';
import type { Transaction } from '../rows/transaction.ts';
import { type HeldKind, readHeld } from '../versions/versioned-cache.ts';

const heldDividends: HeldKind<readonly Dividend[]> = {
  subject: 'corporate',
  name: 'dividends',
  bytesOf: (dividends) => 100 + 150 * dividends.length,
};

// Rows were validated when they were written.
const dividendOf = (row: Row<'Dividend'>): Dividend => ({ ...row, kind: row.kind as DividendKind });

/**
 * The dividends of symbols, ascending by ex-date; a symbol without any is absent. One statement for up to 250, none if
 * all are cached.
 */
export function dividendsOf(store: Store, symbols: readonly string[]): Promise<Map<string, readonly Dividend[]>> {
  const asked = symbols.map((symbol) => ({ symbol }));
  return readHeld(store, heldDividends, asked, async (missing) => {
    const { prisma } = readFrom(store, 'corporate', symbols);
    const rows = await findAny(
      missing.map(({ symbol }) => symbol),
      (symbol) => prisma.dividend.findMany({ where: { symbol }, orderBy: [{ exDate: 'asc' }, { kind: 'asc' }] }),
    );
    return Map.groupBy(rows.map(dividendOf), ({ symbol }) => symbol);
  });
}

/** The dividends of a symbol, ascending by ex-date, in the caller's transaction if given. */
export async function readDividends({ prisma }: Pick<Reader, 'prisma'>, symbol: string): Promise<Dividend[]> {
  const rows = await prisma.dividend.findMany({ where: { symbol }, orderBy: [{ exDate: 'asc' }, { kind: 'asc' }] });
  return rows.map(dividendOf);
}

/** All stored dividends, by symbol, then ex-date; those of one symbol unless that is null. */
export async function allDividends({ prisma }: Store, symbol: string | null): Promise<Dividend[]> {
  const where = symbol === null ? {} : { symbol };
  const rows = await prisma.dividend.findMany({
    where,
    orderBy: [{ symbol: 'asc' }, { exDate: 'asc' }, { kind: 'asc' }],
  });
  return rows.map(dividendOf);
}

/**
 * Inserts or replaces dividends, inside the caller's transaction; no two may have the same symbol, ex-date and kind.
 * Returns the number that are new or different.
 */
export function saveDividends(tx: Transaction, dividends: readonly Dividend[]): Promise<number> {
  return upsertRows(tx, 'Dividend', dividends, { ifDifferent: ['amount', 'ratio', 'declared'] });
}
