import type { ImportResult, NewTrade, RowError } from '../../core/domain/journal.ts';
import { yieldForRows } from '../../platform/runtime/event-loop.ts';
import type { Store } from '../rows/connection.ts';
import { insertRows } from '../rows/models/sets.ts';
import type { Reader } from '../rows/reader.ts';
import type { Transaction } from '../rows/transaction.ts';
import { type OwnJournal, writeJournal } from './journal-writes.ts';

/** An import to run. */
export interface JournalImport {
  importId: string;
  trades: readonly NewTrade[];
  /** The first of the unreadable rows, in order. */
  errors: readonly RowError[];
  /** Number of the others. */
  errorsOmitted: number;
}

/** The result of an earlier import with that id; null = none. */
export async function findImport(
  { prisma }: Pick<Reader, 'prisma'>,
  accountId: string,
  importId: string,
): Promise<ImportResult | null> {
  const row = await prisma.journalImport.findUnique({
    where: { accountId_importId: { accountId, importId } },
    select: { created: true, skipped: true, errors: true, errorsOmitted: true },
  });
  return row && { ...row, errors: row.errors as unknown as RowError[], errorsOmitted: row.errorsOmitted ?? 0 };
}

/**
 * Imports the trades and stores the result in one transaction: a crash leaves both or neither. A repeated `importId`
 * imports nothing and returns the first result, also under concurrency.
 */
export async function importTrades(
  store: Store,
  journal: OwnJournal,
  { importId, trades, errors, errorsOmitted }: JournalImport,
  newId: () => string,
  nowMs: number,
): Promise<ImportResult> {
  const { accountId } = journal;
  // Serialized per account: the second import of one id finds the first's result, and two with shared trades cannot
  // deadlock.
  return writeJournal(store, journal, async (tx) => {
    const earlier = await findImport(tx, accountId, importId);
    if (earlier) return { result: earlier, added: 0 };
    let created = 0;
    let accounts = 0;
    // In chunks, so that preparing a large import never blocks other requests for long.
    for (let start = 0; start < trades.length; start += sliceLength) {
      await yieldForRows(trades.length);
      const slice = trades.slice(start, start + sliceLength);
      accounts += await addJournalAccounts(tx, accountId, slice, nowMs);
      created += await addTrades(tx, accountId, slice, newId, nowMs);
    }
    const errorRows = errors.map(({ row, code }) => ({ row, code }));
    const result = { created, skipped: trades.length - created, errors: errorRows, errorsOmitted };
    await tx.prisma.journalImport.create({ data: { accountId, importId, ...result, createdAt: nowMs } });
    return { result, added: created + accounts + 1 };
  });
}

const sliceLength = 1000;

/** Creates the missing journal accounts of trades, each with that id and name. Returns their number. */
export async function addJournalAccounts(
  tx: Transaction,
  accountId: string,
  trades: readonly Pick<NewTrade, 'journalAccountId'>[],
  nowMs: number,
): Promise<number> {
  const ids = [...new Set(trades.map((trade) => trade.journalAccountId))].sort();
  const rows = ids.map((id) => ({ accountId, id, name: id, broker: null, createdAt: nowMs }));
  return insertRows(tx, 'JournalAccount', rows);
}

/** Adds new trades, earlier rows first. Returns their number. */
function addTrades(
  tx: Transaction,
  accountId: string,
  trades: readonly NewTrade[],
  newId: () => string,
  nowMs: number,
): Promise<number> {
  const rows = trades.map((trade) => ({ accountId, ...trade, id: trade.id ?? newId(), createdAt: nowMs }));
  return insertRows(tx, 'JournalTrade', rows);
}
