import { LRUCache } from 'lru-cache';
import { journalFull } from '../../platform/wire/failure.ts';
import type { Store } from '../rows/connection.ts';
import type { Reader } from '../rows/reader.ts';
import { statement } from '../rows/statement.ts';
import { inTransaction, type Transaction } from '../rows/transaction.ts';

/** The journal of an account, for writing. */
export interface OwnJournal {
  accountId: string;
  /** Maximum number of its rows: trades, journal accounts and imports. */
  maxRows: number;
}

/** Maximum number of accounts with counts in this process; the least recently written is dropped. */
const mostCounted = 10_000;
const countedBy = new WeakMap<Store['pool'], LRUCache<string, true>>();

function countedIn({ pool }: Store): LRUCache<string, true> {
  const known = countedBy.get(pool) ?? new LRUCache({ max: mostCounted });
  countedBy.set(pool, known);
  return known;
}

/** Counts the rows of a journal, and stores the count. */
async function counted({ prisma }: Transaction, accountId: string): Promise<number> {
  const where = { accountId };
  const rows = [
    await prisma.journalTrade.count({ where }),
    await prisma.journalAccount.count({ where }),
    await prisma.journalImport.count({ where }),
  ];
  const rowCount = rows.reduce((sum, each) => sum + each, 0);
  await prisma.journalSize.upsert({ where, create: { accountId, rowCount }, update: { rowCount } });
  return rowCount;
}

const growing = statement('account/grow-journal', { accountId: 'text', rows: 'int4' }, { rows: 'int4' });

/** Result of a write. */
interface Written<T> {
  result: T;
  /** Number of added rows; negative = removed. */
  added: number;
}

/**
 * Writes to a journal in one transaction, serialized per account. Throws 400, and changes nothing, if rows were added
 * beyond the journal's limit. The first write of an account in a process counts its rows: a process of an older
 * release, which writes during a rolling upgrade, does not update the count.
 */
export async function writeJournal<T>(
  store: Store,
  { accountId, maxRows }: OwnJournal,
  work: (tx: Transaction) => Promise<Written<T>>,
): Promise<T> {
  const known = countedIn(store);
  const grown = async (tx: Transaction, rows: number) =>
    known.has(accountId) ? (await growing.rows(tx, { accountId, rows }))[0]!.rows : counted(tx, accountId);
  const result = await inTransaction(
    store,
    async (tx) => {
      const written = await work(tx);
      if (written.added === 0) return written;
      const rows = await grown(tx, written.added);
      if (written.added > 0 && rows > maxRows) throw journalFull(maxRows, rows - written.added, written.added);
      return written;
    },
    { lock: `journal ${accountId}` },
  );
  if (result.added !== 0) known.set(accountId, true);
  return result.result;
}

/** Number of rows in the journal of an account. */
export async function journalRows({ prisma }: Pick<Reader, 'prisma'>, accountId: string): Promise<number> {
  const size = await prisma.journalSize.findUnique({ where: { accountId }, select: { rowCount: true } });
  return size?.rowCount ?? 0;
}
