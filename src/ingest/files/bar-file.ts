import type { GivenBar } from '../../domain/market/bar.ts';
import { type CsvFormat, readCsv } from '../../tape/csv/csv.ts';
import { closedDayCounter } from '../../tape/prints/closed-days.ts';
import { type BarBatch, barBatch } from './bar-batch.ts';
import type { FileJob, FileResult } from './file-job.ts';
import { writeBehind } from './write-behind.ts';

// Number of bars in memory before a write. A file sorted by ticker, as from vendors, then writes nearly every block
// once; one in any other order merges each block once per batch, in the same memory.
const batchBars = 400_000;

/**
 * Reads a file of bars in batches: `push` adds a record to a batch, `write` stores one and returns the number of
 * changes.
 */
export async function loadBarFile<R extends { bar: GivenBar }, Name extends string>(
  job: FileJob,
  format: CsvFormat<R, Name>,
  push: (batch: BarBatch, record: R) => void,
  write: (batch: BarBatch) => Promise<number>,
): Promise<FileResult> {
  const writes = writeBehind();
  const days = closedDayCounter('bars');
  let batch = barBatch();
  let rows = 0;
  let changed = 0;
  const flush = async () => {
    if (batch.size() === 0 || job.refused()) return;
    const full = batch;
    batch = barBatch();
    await writes.next(async () => {
      changed += await write(full);
    });
  };
  for await (const { records } of readCsv(job.path, [format], job.onBadLine, job.onBytes)) {
    if (job.refused()) continue;
    for (const record of records) {
      days.add(record.bar.tsMs);
      push(batch, record);
    }
    rows += records.length;
    if (batch.size() >= batchBars) await flush();
  }
  await flush();
  await writes.done();
  days.check(job.path, 'window_start');
  return { rows, changed };
}
