import type { VolatilityDay } from '../../core/domain/chain/volatility-day.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { readFrom, type Store } from '../rows/connection.ts';
import { findAny } from '../rows/models/any-of.ts';
import { upsertRows } from '../rows/models/sets.ts';
import type { Transaction } from '../rows/transaction.ts';
import { type HeldKind, heldId, readHeld } from '../versions/versioned-cache.ts';

const heldDays: HeldKind<readonly VolatilityDay[]> = {
  subject: 'corporate',
  name: 'volatility-days',
  bytesOf: (days) => 100 + 80 * days.length,
};

/**
 * The stored days of symbols from `from` on, ascending; a symbol without any is absent. One statement for up to 250
 * symbols, none when all are held.
 */
export async function volatilityDaysOf(
  store: Store,
  symbols: readonly string[],
  from: SessionDate,
): Promise<Map<string, readonly VolatilityDay[]>> {
  const asked = symbols.map((symbol) => ({ symbol, part: from }));
  const held = await readHeld(store, heldDays, asked, async (missing) => {
    const { prisma } = readFrom(store, 'corporate', symbols);
    const rows = await findAny(
      missing.map(({ symbol }) => symbol),
      (symbol) => prisma.volatilityDay.findMany({ where: { symbol, date: { gte: from } }, orderBy: { date: 'asc' } }),
    );
    return Map.groupBy(rows, ({ symbol }) => heldId({ symbol, part: from }));
  });
  return new Map(
    asked.flatMap((key) => {
      const days = held.get(heldId(key));
      return days ? [[key.symbol, days] as const] : [];
    }),
  );
}

/** All stored days, by symbol, then date; of one symbol unless that is null. */
export function allVolatilityDays({ prisma }: Store, symbol: string | null): Promise<VolatilityDay[]> {
  const where = symbol === null ? {} : { symbol };
  return prisma.volatilityDay.findMany({ where, orderBy: [{ symbol: 'asc' }, { date: 'asc' }] });
}

/**
 * Inserts or replaces days, inside the caller's transaction; no two may have one symbol and date. Returns how many are
 * new or different.
 */
export function saveVolatilityDays(tx: Transaction, days: readonly VolatilityDay[]): Promise<number> {
  return upsertRows(tx, 'VolatilityDay', days, { ifDifferent: ['iv30'] });
}
