import type { BarColumns, GivenBar } from '../../../core/domain/market/bar.ts';
import { type CsvFormat, readCsv } from '../../tape/csv/csv.ts';
import { closedDayCounter } from '../../tape/prints/closed-days.ts';
import { type BarBatch, barBatch } from './bar-batch.ts';
import { BarChecks, type BarLengthName } from './bar-checks.ts';
import type { FileJob, FileResult } from './file-job.ts';
import { writeBehind } from './write-behind.ts';

// Number of bars in memory before a write. A file sorted by ticker, as from vendors, then writes nearly every block
// once; one in any other order merges each block once per batch, in the same memory.
const batchBars = 400_000;

/** Bars by key; each run ascends. */
export type BarRuns = Iterable<[key: string, bars: BarColumns]>;

/** Handling of a file's records: `push` adds one to a batch, `write` stores runs and returns the number of changes. */
export interface BarFileWork<R> {
  length: BarLengthName;
  push(batch: BarBatch, record: R): void;
  write(runs: BarRuns): Promise<number>;
  /** Called after the last record, for checks that need all; throws `TapeFileError`. */
  check?(): Promise<void>;
}

function* checkedRuns(batch: BarBatch, checks: BarChecks, isSplit: boolean): Generator<[string, BarColumns]> {
  for (const [key, bars] of batch.runs()) {
    checks.add(key, bars, isSplit);
    yield [key, bars];
  }
}

/** Reads a file of bars in batches, with one bar per key and start, of the length of the dataset. */
export async function loadBarFile<R extends { bar: GivenBar }, Name extends string>(
  job: FileJob,
  formats: readonly CsvFormat<R, Name>[],
  { length, push, write, check }: BarFileWork<R>,
): Promise<FileResult> {
  const writes = writeBehind();
  const days = closedDayCounter('bars');
  const checks = new BarChecks(job.path, length);
  let batch = barBatch(checks);
  let [rows, changed, isSplit] = [0, 0, false];
  const flush = async () => {
    if (batch.size() === 0 || job.refused()) return;
    const full = batch;
    batch = barBatch(checks);
    await writes.next(async () => {
      changed += await write(checkedRuns(full, checks, isSplit));
    });
  };
  for await (const { records } of readCsv(job.path, formats, job.onBadLine, job.onBytes)) {
    if (job.refused()) continue;
    for (const record of records) {
      days.add(record.bar.tsMs);
      push(batch, record);
    }
    rows += records.length;
    if (batch.size() < batchBars) continue;
    isSplit = true;
    const last = batch.takeLast();
    await flush();
    for (const [key, bar] of last) batch.push(key, bar);
  }
  await flush();
  await writes.done();
  days.check(job.path, 'window_start');
  if (job.refused()) return { rows, changed };
  for (const note of checks.done()) job.onNote(note);
  await check?.();
  return { rows, changed };
}
