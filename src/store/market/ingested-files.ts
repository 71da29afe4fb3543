import type { Store } from '../rows/connection.ts';
import { numbered } from '../rows/models/numbered-rows.ts';
import type { Row } from '../rows/models/row-values.ts';
import { upsertRows } from '../rows/models/sets.ts';
import type { Transaction } from '../rows/transaction.ts';

/**
 * A stored file to remember. `parts`: its units; other data of one of these supersedes it; empty = unknown.
 * `ingestedAt` is epoch ms.
 */
export type StoredFile = Omit<Row<'IngestedFile'>, 'dataset' | 'hash' | 'head'>;

/** A file whose content is current. */
export type IngestedFile = StoredFile;

/** True if a current file of `dataset` may have this beginning: it has, or was stored without the hash of its head. */
export async function mayBeIngested({ prisma }: Store, dataset: string, head: string): Promise<boolean> {
  const where = { dataset, OR: [{ head }, { head: null }] };
  return (await prisma.ingestedFile.findFirst({ where, select: { hash: true } })) !== null;
}

/**
 * The file of `dataset` with this hash if its content is current, else null. The hash covers the bytes and the options
 * that change the result.
 */
export async function ingestedFile(tx: Transaction, dataset: string, hash: string): Promise<IngestedFile | null> {
  const row = await tx.prisma.ingestedFile.findUnique({
    where: { dataset_hash: { dataset, hash } },
    select: { name: true, rows: true, ingestedAt: true, parts: true },
  });
  return row && numbered(row);
}

/** Remembers a file, in the transaction that stores its content. */
export async function saveIngestedFile(
  tx: Transaction,
  dataset: string,
  { whole: hash, head }: { whole: string; head: string },
  file: StoredFile,
): Promise<void> {
  await upsertRows(tx, 'IngestedFile', [{ dataset, hash, head, ...file }]);
}

/** The dataset name under which files of a reconciled session are remembered, which are not current files. */
const reconciled = (dataset: string) => `reconcile ${dataset}`;

/** Remembers the names of the files of a reconciled session, in the transaction that stores it. */
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

/** The names of the files behind a session's stored data, in the order of storing. */
export async function filesOfSession({ prisma }: Transaction, dataset: string, sessionDate: string): Promise<string[]> {
  const rows = await prisma.ingestedFile.findMany({
    where: { dataset: { in: [dataset, reconciled(dataset)] }, parts: { has: sessionDate } },
    select: { name: true },
    orderBy: [{ ingestedAt: 'asc' }, { name: 'asc' }],
  });
  return [...new Set(rows.map(({ name }) => name))];
}

/** Those of some sessions with stored data of files of a dataset. */
export async function sessionsOfFiles(
  { prisma }: Transaction,
  dataset: string,
  sessions: readonly string[],
): Promise<Set<string>> {
  const where = { dataset, parts: { hasSome: [...sessions] } };
  const rows = await prisma.ingestedFile.findMany({ where, select: { parts: true } });
  return new Set(rows.flatMap(({ parts }) => parts));
}

/** Removes all files of datasets: their data would now be computed differently. */
export async function forgetDatasets(tx: Transaction, datasets: readonly string[]): Promise<void> {
  await tx.prisma.ingestedFile.deleteMany({ where: { dataset: { in: [...datasets] } } });
}

/**
 * Removes files of datasets with one of these parts, or of unknown parts: their data was replaced, or would now be
 * computed differently.
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
