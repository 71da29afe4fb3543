import type { ImportResult, NewTrade, RowError } from '../../domain/journal/journal.ts';
import { yieldForRows } from '../../runtime/event-loop.ts';
import type { Store } from '../rows/connection.ts';
import { insertRows } from '../rows/models/sets.ts';
import type { Reader } from '../rows/reader.ts';
import type { Transaction } from '../rows/transaction.ts';
import { type OwnJournal, writeJournal } from './journal-writes.ts';

/** An import to be carried out. */
export interface JournalImport {
  importId: string;
  trades: readonly NewTrade[];
  /** Rows that could not be read, in order: the first of them. */
  errors: readonly RowError[];
  /** Number of the others. */
  errorsOmitted: number;
}

/** The result of an earlier import of that id; null = there was none. */
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
 * Imports the trades and stores the result in one transaction: a crash leaves both or neither. An `importId` that was
 * used before imports nothing and gives the first result, also when both come at the same time.
 */
export async function importTrades(
  store: Store,
  journal: OwnJournal,
  { importId, trades, errors, errorsOmitted }: JournalImport,
  newId: () => string,
  nowMs: number,
): Promise<ImportResult> {
  const { accountId } = journal;
  // Imports of one account wait for each other: the second of the same id finds the first's result, and two of
  // different ids that share trades cannot wait for each other in a circle.
  return writeJournal(store, journal, async (tx) => {
    const earlier = await findImport(tx, accountId, importId);
    if (earlier) return { result: earlier, added: 0 };
    let created = 0;
    let accounts = 0;
    // In slices, so that preparing a large import never holds up other requests for long.
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

/**
 * Makes the journal accounts that trades name and the journal has not, each of that id and name. Returns how many that
 * were.
 */
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

/** Adds what the journal does not have yet, earlier rows first, and returns how many that were. */
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
