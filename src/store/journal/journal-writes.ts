import { journalFull } from '../../domain/failure.ts';
import type { Store } from '../engine/connection.ts';
import type { Reader } from '../engine/replicas.ts';
import { statement } from '../engine/statement.ts';
import { inTransaction, type Transaction } from '../engine/transaction.ts';

/** The journal of an account, as it is written to. */
export interface OwnJournal {
  accountId: string;
  /** Rows that it may hold: trades, journal accounts and imports. */
  maxRows: number;
}

const growing = statement('grow-journal', { accountId: 'text', rows: 'int4' }, { rows: 'int4' });

/** What a write did. */
interface Written<T> {
  result: T;
  /** Rows added; below zero = removed. */
  added: number;
}

/**
 * Writes to a journal in one transaction, one write of an account after the other. Throws 400, and changes nothing, if
 * rows were added beyond those that the journal may hold.
 */
export async function writeJournal<T>(
  store: Store,
  { accountId, maxRows }: OwnJournal,
  work: (tx: Transaction) => Promise<Written<T>>,
): Promise<T> {
  return inTransaction(
    store,
    async (tx) => {
      const { result, added } = await work(tx);
      if (added === 0) return result;
      const [size] = await growing.rows(tx, { accountId, rows: added });
      if (added > 0 && size!.rows > maxRows) throw journalFull(maxRows, size!.rows - added, added);
      return result;
    },
    { lock: `journal ${accountId}` },
  );
}

/** Rows that the journal of an account holds. */
export async function journalRows({ prisma }: Pick<Reader, 'prisma'>, accountId: string): Promise<number> {
  const size = await prisma.journalSize.findUnique({ where: { accountId }, select: { rowCount: true } });
  return size?.rowCount ?? 0;
}
