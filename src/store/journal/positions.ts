import type { JournalTrade } from '../../core/domain/journal/journal.ts';
import type { Store } from '../rows/connection.ts';
import { anyOf } from '../rows/models/any-of.ts';
import { numbered } from '../rows/models/numbered-rows.ts';

/** The trades of an instrument and side, added up. */
export interface TradedQty {
  symbol: string;
  side: string;
  qty: number;
  trades: number;
}

/** An account's trades up to an instant, epoch ms, of one journal account unless that is null. */
export interface TradesBy {
  accountId: string;
  journalAccountId: string | null;
  throughMs: number;
}

const whereOf = ({ accountId, journalAccountId, throughMs }: TradesBy) => ({
  accountId,
  tsMs: { lte: throughMs },
  ...(journalAccountId !== null && { journalAccountId }),
});

/** Quantities by instrument and side, ascending. One statement. */
export async function tradedQuantities({ prisma }: Pick<Store, 'prisma'>, by: TradesBy): Promise<TradedQty[]> {
  const rows = await prisma.journalTrade.groupBy({
    by: ['symbol', 'side'],
    where: whereOf(by),
    _sum: { qty: true },
    _count: { _all: true },
    orderBy: [{ symbol: 'asc' }, { side: 'asc' }],
  });
  return rows.map(({ symbol, side, _sum, _count }) => ({ symbol, side, qty: _sum.qty ?? 0, trades: _count._all }));
}

/** The trades of some instruments, in any order. One statement. */
export async function tradesOf(
  { prisma }: Pick<Store, 'prisma'>,
  by: TradesBy,
  symbols: readonly string[],
): Promise<Pick<JournalTrade, 'symbol' | 'side' | 'qty' | 'tsMs'>[]> {
  const where = { ...whereOf(by), symbol: anyOf(symbols) };
  const rows = await prisma.journalTrade.findMany({
    where,
    select: { symbol: true, side: true, qty: true, tsMs: true },
  });
  return rows.map(numbered);
}
