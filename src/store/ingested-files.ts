import type { Transaction } from './transaction.ts';

/** A file whose content was stored before. */
export interface IngestedFile {
  name: string;
  rows: number;
  /** Epoch ms. */
  ingestedAt: number;
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
  { name, rows, ingestedAt }: IngestedFile,
): Promise<void> {
  await tx.query(
    'INSERT INTO ingested_files (dataset, hash, name, rows, ingested_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING',
    [dataset, hash, name, rows, ingestedAt],
  );
}
