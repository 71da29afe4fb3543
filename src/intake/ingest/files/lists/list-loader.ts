import { type GenerationPart, wholeList } from '../../../../core/domain/generation.ts';
import { problemOfDate } from '../../../../core/domain/instant-gate.ts';
import type { SessionDate } from '../../../../core/domain/market-time.ts';
import { type CsvFormat, type RecordBatch, readCsv } from '../../../tape/csv/csv.ts';
import type { FileJob, Loader } from '../file-job.ts';
import { outdatedCaptures } from '../outdated-captures.ts';

/** A list whose rows are stored one a key. */
interface ListKind<T> {
  keyOf(row: T): string;
  /** The date that the gate of time judges, its column, and whether it is announced before it comes; null = none. */
  dateOf(row: T): { column: string; date: SessionDate; isAnnounced: boolean } | null;
  /** Returns how many rows are new or different. */
  store(job: FileJob, rows: readonly T[]): Promise<number>;
  /** The symbols whose captures are priced with the rows, null = all; absent: none are. */
  symbolsOf?(rows: readonly T[]): ReadonlySet<string> | null;
  /** The part of the list that they are, all of it unless given. */
  partOf?(rows: readonly T[]): GenerationPart;
}

/**
 * The rows of a list, one per key. A line that contradicts an earlier one with the same key is bad: it is unknown which
 * of the two is right.
 */
async function distinctRows<T extends object>(
  { path, onBadLine, now }: Pick<FileJob, 'path' | 'onBadLine' | 'now'>,
  batches: AsyncIterable<RecordBatch<T>>,
  { keyOf, dateOf }: Pick<ListKind<T>, 'keyOf' | 'dateOf'>,
): Promise<{ rows: T[]; read: number }> {
  const nowMs = now();
  const found = new Map<string, { row: T; text: string; line: number }>();
  let read = 0;
  for await (const { records, lineNumbers } of batches) {
    for (const [i, row] of records.entries()) {
      const [key, line, text] = [keyOf(row), lineNumbers[i]!, JSON.stringify(row)];
      const before = found.get(key);
      read++;
      const dated = dateOf(row);
      const late = dated && problemOfDate(dated.date, nowMs, dated.isAnnounced);
      if (late !== null) onBadLine({ file: path, line, reason: `${dated!.column}: ${late}` });
      else if (!before) found.set(key, { row, text, line });
      else if (before.text !== text)
        onBadLine({ file: path, line, reason: `${key}: line ${before.line} says something else` });
    }
  }
  return { rows: Array.from(found.values(), ({ row }) => row), read };
}

/** Loads a list whose rows are stored one a key; rows that the file does not name stay as they are. */
export function listLoader<T extends object, Name extends string>(
  format: CsvFormat<T, Name>,
  { store, symbolsOf, partOf = () => wholeList, ...kind }: ListKind<T>,
): Loader {
  return async (job) => {
    const batches = readCsv(job.path, [format], job.onBadLine, job.onBytes);
    const { rows, read } = await distinctRows(job, batches, kind);
    if (job.refused()) return { rows: read, changed: 0 };
    const changed = await store(job, rows);
    const outdated = changed > 0 && symbolsOf ? await outdatedCaptures(job.tx, symbolsOf(rows)) : [];
    return { rows: read, changed, parts: ['all'], written: changed > 0 ? [partOf(rows)] : [], outdated };
  };
}
