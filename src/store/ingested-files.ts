import type { SessionDate } from '../domain/market-time.ts';
import type { Transaction } from './transaction.ts';

/** A file whose content was stored before. */
export interface IngestedFile {
  name: string;
  rows: number;
  /** Epoch ms. */
  ingestedAt: number;
}

/** A file that was stored, to be remembered. */
export interface StoredFile extends IngestedFile {
  /** Sessions it is of, when what else is stored of them shapes what it gives; else empty. */
  sessions: readonly SessionDate[];
}

/** The file of `dataset` with this hash, when it was stored before, else null. The hash covers the bytes and the options that shape the result. */
export async function ingestedFile(tx: Transaction, dataset: string, hash: string): Promise<IngestedFile | null> {
  const { rows } = await tx.query<{ name: string; rows: number; ingested_at: number }>(
    'SELECT name, rows, ingested_at FROM ingested_files WHERE dataset = $1 AND hash = $2',
    [dataset, hash],
  );
  const row = rows[0];
  return row ? { name: row.name, rows: row.rows, ingestedAt: Number(row.ingested_at) } : null;
}

/** Remembers a file, in the transaction that stores what is in it. */
export async function saveIngestedFile(
  tx: Transaction,
  dataset: string,
  hash: string,
  { name, rows, ingestedAt, sessions }: StoredFile,
): Promise<void> {
  await tx.query(
    `INSERT INTO ingested_files (dataset, hash, name, rows, ingested_at, sessions) VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT DO NOTHING`,
    [dataset, hash, name, rows, ingestedAt, sessions],
  );
}

/** Forgets files of a dataset that are of one of these sessions, or of no session that is known: read again they give something else. */
export async function forgetFilesOf(tx: Transaction, dataset: string, sessions: readonly SessionDate[]): Promise<void> {
  await tx.query(`DELETE FROM ingested_files WHERE dataset = $1 AND (sessions && $2::text[] OR sessions = '{}')`, [
    dataset,
    sessions,
  ]);
}
