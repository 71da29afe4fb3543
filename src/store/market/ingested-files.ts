import type { Store } from '../rows/connection.ts';
import { numbered } from '../rows/models/rows.ts';
import { type Row, upsertRows } from '../rows/models/sets.ts';
import type { Transaction } from '../rows/transaction.ts';

/**
 * A file that was stored, to be remembered. `parts` = what it was of: other data of one of these supersedes it; empty =
 * not known. `ingestedAt` is epoch ms.
 */
export type StoredFile = Omit<Row<'IngestedFile'>, 'dataset' | 'hash' | 'head'>;

/** A file whose content is in force. */
export type IngestedFile = StoredFile;

/** True if a file of `dataset` that is in force may begin so: it does, or was stored without the hash of its head. */
export async function mayBeIngested({ prisma }: Store, dataset: string, head: string): Promise<boolean> {
  const where = { dataset, OR: [{ head }, { head: null }] };
  return (await prisma.ingestedFile.findFirst({ where, select: { hash: true } })) !== null;
}

/**
 * The file of `dataset` with this hash when its content is in force, else null. The hash covers the bytes and the
 * options that shape the result.
 */
export async function ingestedFile(tx: Transaction, dataset: string, hash: string): Promise<IngestedFile | null> {
  const row = await tx.prisma.ingestedFile.findUnique({
    where: { dataset_hash: { dataset, hash } },
    select: { name: true, rows: true, ingestedAt: true, parts: true },
  });
  return row && numbered(row);
}

/** Remembers a file, in the transaction that stores what is in it. */
export async function saveIngestedFile(
  tx: Transaction,
  dataset: string,
  { whole: hash, head }: { whole: string; head: string },
  file: StoredFile,
): Promise<void> {
  await upsertRows(tx, 'IngestedFile', [{ dataset, hash, head, ...file }]);
}

/** Under which name files are remembered that a session was reconciled from: not as files that are in force. */
const reconciled = (dataset: string) => `reconcile ${dataset}`;

/** Remembers the names of the files that a session was reconciled from, in the transaction that stores it. */
export async function saveReconciledFiles(
  tx: Transaction,
  dataset: string,
  sessionDate: string,
  { names, rows, nowMs }: { names: readonly string[]; rows: number; nowMs: number },
): Promise<void> {
  const files = names.map((name) => {
    const hash = `${sessionDate} ${name}`;
    return { dataset: reconciled(dataset), hash, head: hash, name, rows, ingestedAt: nowMs, parts: [sessionDate] };
  });
  await upsertRows(tx, 'IngestedFile', files);
}

/** The names of the files that a session's stored data is from, those stored first first. */
export async function filesOfSession({ prisma }: Transaction, dataset: string, sessionDate: string): Promise<string[]> {
  const rows = await prisma.ingestedFile.findMany({
    where: { dataset: { in: [dataset, reconciled(dataset)] }, parts: { has: sessionDate } },
    select: { name: true },
    orderBy: [{ ingestedAt: 'asc' }, { name: 'asc' }],
  });
  return [...new Set(rows.map(({ name }) => name))];
}

/** Forgets all files of datasets: other data would be computed from them now. */
export async function forgetDatasets(tx: Transaction, datasets: readonly string[]): Promise<void> {
  await tx.prisma.ingestedFile.deleteMany({ where: { dataset: { in: [...datasets] } } });
}

/**
 * Forgets files of datasets that are of one of these parts, or of unknown parts: other data has replaced theirs, or
 * different data would be computed from them now.
 */
export async function forgetFiles(
  tx: Transaction,
  datasets: readonly string[],
  parts: readonly string[],
): Promise<void> {
  await tx.prisma.ingestedFile.deleteMany({
    where: {
      dataset: { in: [...datasets, ...datasets.map(reconciled)] },
      OR: [{ parts: { hasSome: [...parts] } }, { parts: { isEmpty: true } }],
    },
  });
}
