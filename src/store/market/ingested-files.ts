import type { SessionDate } from '../../domain/market-time.ts';
import { numbered } from '../engine/rows.ts';
import { insertRows, type Row } from '../engine/sets.ts';
import type { Transaction } from '../engine/transaction.ts';

/**
 * A file that was stored, to be remembered. `sessions`: those it is of, when what else is stored of them shapes what it gives; else
 * empty. `ingestedAt` is epoch ms.
 */
export type StoredFile = Omit<Row<'IngestedFile'>, 'dataset' | 'hash'>;

/** A file whose content was stored before. */
export type IngestedFile = Omit<StoredFile, 'sessions'>;

/** The file of `dataset` with this hash, when it was stored before, else null. The hash covers the bytes and the options that shape the result. */
export async function ingestedFile(tx: Transaction, dataset: string, hash: string): Promise<IngestedFile | null> {
  const row = await tx.prisma.ingestedFile.findUnique({
    where: { dataset_hash: { dataset, hash } },
    select: { name: true, rows: true, ingestedAt: true },
  });
  return row && numbered(row);
}

/** Remembers a file, in the transaction that stores what is in it. */
export async function saveIngestedFile(
  tx: Transaction,
  dataset: string,
  hash: string,
  file: StoredFile,
): Promise<void> {
  await insertRows(tx, 'IngestedFile', [{ dataset, hash, ...file }]);
}

/** Forgets files of a dataset that are of one of these sessions, or of no session that is known: read again they give something else. */
export async function forgetFilesOf(tx: Transaction, dataset: string, sessions: readonly SessionDate[]): Promise<void> {
  await tx.prisma.ingestedFile.deleteMany({
    where: { dataset, OR: [{ sessions: { hasSome: [...sessions] } }, { sessions: { isEmpty: true } }] },
  });
}
