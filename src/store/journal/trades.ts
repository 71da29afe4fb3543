import type { JournalTrade } from '../../domain/journal/journal.ts';
import type { Store } from '../rows/connection.ts';
import { anyOf } from '../rows/models/any-of.ts';
import { numbered } from '../rows/models/rows.ts';
import { insertRows } from '../rows/models/sets.ts';
import { addJournalAccounts } from './imports.ts';
import { type OwnJournal, writeJournal } from './journal-writes.ts';

const select = {
  ...{ id: true, journalAccountId: true, symbol: true, side: true, qty: true, price: true, tsMs: true, note: true },
} as const;

/** A position in a journal: the trade last read. */
export interface TradePosition {
  tsMs: number;
  id: string;
}

/** Trades of an account, latest first, `limit` of them after `after` (null = from the latest). */
export async function listJournalTrades(
  store: Store,
  accountId: string,
  after: TradePosition | null,
  limit: number,
): Promise<JournalTrade[]> {
  const later = after && { OR: [{ tsMs: { lt: after.tsMs } }, { tsMs: after.tsMs, id: { lt: after.id } }] };
  const rows = await store.prisma.journalTrade.findMany({
    where: { accountId, ...later },
    orderBy: [{ tsMs: 'desc' }, { id: 'desc' }],
    take: limit,
    select,
  });
  return rows.map(numbered);
}

/** The trades of an account that have these ids, in any order. */
export async function findJournalTrades(
  store: Store,
  accountId: string,
  ids: readonly string[],
): Promise<JournalTrade[]> {
  const rows = await store.prisma.journalTrade.findMany({ where: { accountId, id: anyOf(ids) }, select });
  return rows.map(numbered);
}

/** Stores a new trade, and the journal account it names when there is none; false = there is a trade of that id. */
export async function insertJournalTrade(
  store: Store,
  journal: OwnJournal,
  trade: JournalTrade,
  nowMs: number,
): Promise<boolean> {
  const { accountId } = journal;
  return writeJournal(store, journal, async (tx) => {
    const trades = await insertRows(tx, 'JournalTrade', [{ accountId, ...trade, createdAt: nowMs }]);
    if (trades === 0) return { result: false, added: 0 };
    return { result: true, added: trades + (await addJournalAccounts(tx, accountId, [trade], nowMs)) };
  });
}

/**
 * Replaces a trade by the result of `change`; null = there is none of that id. What `change` throws changes nothing.
 */
export async function changeJournalTrade(
  store: Store,
  journal: OwnJournal,
  id: string,
  change: (current: JournalTrade) => JournalTrade,
  nowMs: number,
): Promise<JournalTrade | null> {
  const { accountId } = journal;
  return writeJournal(store, journal, async (tx) => {
    const where = { accountId_id: { accountId, id } };
    const current = await tx.prisma.journalTrade.findUnique({ where, select });
    if (!current) return { result: null, added: 0 };
    const trade = { ...change(numbered(current)), id };
    const isMoved = trade.journalAccountId !== current.journalAccountId;
    const added = isMoved ? await addJournalAccounts(tx, accountId, [trade], nowMs) : 0;
    await tx.prisma.journalTrade.update({ where, data: trade });
    return { result: trade, added };
  });
}

/**
 * Deletes a trade; false = there is none of that id. It waits for a change of the same trade, which would find it gone
 * in between.
 */
export async function deleteJournalTrade(store: Store, journal: OwnJournal, id: string): Promise<boolean> {
  return writeJournal(store, journal, async (tx) => {
    const { count } = await tx.prisma.journalTrade.deleteMany({ where: { accountId: journal.accountId, id } });
    return { result: count === 1, added: -count };
  });
}
