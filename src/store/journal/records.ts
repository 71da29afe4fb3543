import type { JournalAccount, JournalTrade } from '../../core/domain/journal.ts';
import type { Store } from '../rows/connection.ts';
import { anyOf } from '../rows/models/any-of.ts';
import { numbered } from '../rows/models/numbered-rows.ts';
import { insertRows } from '../rows/models/sets.ts';
import type { Reader } from '../rows/reader.ts';
import type { Transaction } from '../rows/transaction.ts';
import { addJournalAccounts } from './imports.ts';
import { type OwnJournal, writeJournal } from './journal-writes.ts';

/** A record of a journal. */
export interface JournalRecord {
  id: string;
}

/** A table of the journal: one row per record, by account and id. */
export interface JournalTable<T extends JournalRecord> {
  model: 'JournalAccount' | 'JournalTrade';
  select: Readonly<Record<keyof T, true>>;
  /** The order of its list, ending with the id. */
  order: readonly { field: keyof T & string; direction: 'asc' | 'desc' }[];
  /** Adds rows that a record refers to; `current` is the one it replaces. Returns the number of added rows. */
  complete?: (tx: Transaction, accountId: string, written: Written<T>, nowMs: number) => Promise<number>;
  /** Number of records that prevent one from being deleted. */
  dependents?: (tx: Transaction, accountId: string, id: string) => Promise<number>;
}

interface Written<T> {
  record: T;
  current: T | null;
}

/** The Prisma calls for either table. */
interface Calls<T> {
  findMany(query: object): Promise<T[]>;
  findUnique(query: object): Promise<T | null>;
  update(change: object): Promise<T>;
  count(query: object): Promise<number>;
  deleteMany(query: object): Promise<{ count: number }>;
}

function callsOf<T extends JournalRecord>({ prisma }: Pick<Reader, 'prisma'>, { model }: JournalTable<T>): Calls<T> {
  const calls = model === 'JournalTrade' ? prisma.journalTrade : prisma.journalAccount;
  return calls as unknown as Calls<T>;
}

/** The condition on rows after a position in the order of a list. */
function after<T extends JournalRecord>({ order }: JournalTable<T>, position: Partial<T>): object {
  const behind = order.map(({ field, direction }, index) => ({
    ...Object.fromEntries(order.slice(0, index).map((earlier) => [earlier.field, position[earlier.field]])),
    [field]: { [direction === 'asc' ? 'gt' : 'lt']: position[field] },
  }));
  return { OR: behind };
}

/** Records of an account in order, `limit` of them after `position` (null = from the first). */
export async function listRecords<T extends JournalRecord>(
  store: Store,
  table: JournalTable<T>,
  accountId: string,
  position: Partial<T> | null,
  limit: number,
): Promise<T[]> {
  const { select, order } = table;
  const where = { accountId, ...(position && after(table, position)) };
  const orderBy = order.map(({ field, direction }) => ({ [field]: direction }));
  const rows = await callsOf(store, table).findMany({ where, orderBy, take: limit, select });
  return rows.map(numbered) as T[];
}

/** The records of an account that have these ids, in any order. */
export async function findRecords<T extends JournalRecord>(
  store: Store,
  table: JournalTable<T>,
  accountId: string,
  ids: readonly string[],
): Promise<T[]> {
  const { select } = table;
  const rows = await callsOf(store, table).findMany({ where: { accountId, id: anyOf(ids) }, select });
  return rows.map(numbered) as T[];
}

/** Stores a new record; false = the id exists. */
export async function insertRecord<T extends JournalRecord>(
  store: Store,
  table: JournalTable<T>,
  journal: OwnJournal,
  record: T,
  nowMs: number,
): Promise<boolean> {
  const { accountId } = journal;
  return writeJournal(store, journal, async (tx) => {
    const row = { accountId, ...record, createdAt: nowMs };
    const inserted = await insertRows(tx, table.model, [row as never]);
    if (inserted === 0) return { result: false, added: 0 };
    const others = (await table.complete?.(tx, accountId, { record, current: null }, nowMs)) ?? 0;
    return { result: true, added: inserted + others };
  });
}

/** Changes fields of a record; null = the id is unknown. */
export async function changeRecord<T extends JournalRecord>(
  store: Store,
  table: JournalTable<T>,
  journal: OwnJournal,
  { id, ...changes }: Partial<T> & JournalRecord,
  nowMs: number,
): Promise<T | null> {
  const { accountId } = journal;
  const { select } = table;
  return writeJournal(store, journal, async (tx) => {
    const where = { accountId_id: { accountId, id } };
    const found = await callsOf(tx, table).findUnique({ where, select });
    if (!found) return { result: null, added: 0 };
    const current = numbered(found) as T;
    const record = { ...current, ...changes };
    const added = (await table.complete?.(tx, accountId, { record, current }, nowMs)) ?? 0;
    await callsOf(tx, table).update({ where, data: record });
    return { result: record, added };
  });
}

/**
 * Deletes a record without dependents. Returns their number: 0 = deleted; null = the id is unknown. It is serialized
 * with other writes to the journal, which could refer to it.
 */
export async function deleteRecord<T extends JournalRecord>(
  store: Store,
  table: JournalTable<T>,
  journal: OwnJournal,
  id: string,
): Promise<number | null> {
  const { accountId } = journal;
  const where = { accountId, id };
  return writeJournal(store, journal, async (tx) => {
    const dependents = (await table.dependents?.(tx, accountId, id)) ?? 0;
    if (dependents > 0)
      return { result: (await callsOf(tx, table).count({ where })) === 0 ? null : dependents, added: 0 };
    const { count } = await callsOf(tx, table).deleteMany({ where });
    return { result: count === 0 ? null : 0, added: -count };
  });
}

/** Accounts of journals, ascending by id. One that trades refer to cannot be deleted. */
export const accountTable: JournalTable<JournalAccount> = {
  model: 'JournalAccount',
  select: { id: true, name: true, broker: true },
  order: [{ field: 'id', direction: 'asc' }],
  dependents: ({ prisma }, accountId, id) => prisma.journalTrade.count({ where: { accountId, journalAccountId: id } }),
};

/** Trades of journals, latest first. A missing journal account is created with its trade. */
export const tradeTable: JournalTable<JournalTrade> = {
  model: 'JournalTrade',
  select: {
    id: true,
    journalAccountId: true,
    symbol: true,
    side: true,
    qty: true,
    price: true,
    tsMs: true,
    note: true,
  },
  order: [
    { field: 'tsMs', direction: 'desc' },
    { field: 'id', direction: 'desc' },
  ],
  async complete(tx, accountId, { record, current }, nowMs) {
    if (record.journalAccountId === current?.journalAccountId) return 0;
    return addJournalAccounts(tx, accountId, [record], nowMs);
  },
};

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
