/*
 * Prints that several files of one tape have. Options have no ids: records that are equal in every field are one print,
 * as often as the file that has more of them says.
 */

import { dateOfEpochDay, type SessionDate } from '../../../core/domain/market-time.ts';
import { recordAt as at, nanosOf, recordWidth as width } from '../../tape/prints/option-records.ts';
import { FileSpans } from '../files/file-spans.ts';
import { mixed } from '../files/print-sketch.ts';
import { RecordSorter } from '../files/record-sorter.ts';
import type { Partition, TapePartitions } from './tape-partitions.ts';
import { storedRecords } from './tape-records.ts';

type Shared = { fd: number } & Pick<Partition, 'parts' | 'prints' | 'fileEnds'>;

/** A range of instants in the form of records, both ends included. */
interface Instants {
  from: number;
  to: number;
}

/** The instants of each file's prints, and its first and last prints. */
function readFiles({ fileEnds, ...from }: Shared): { instants: Instants[]; spans: FileSpans } {
  const instants = fileEnds.map(() => ({ from: Infinity, to: -Infinity }));
  const spans = new FileSpans();
  let [file, place] = [0, 0];
  for (const records of storedRecords(from)) {
    for (let i = 0; i < records.length; i += width) {
      if (place++ === fileEnds[file]) file++;
      const [own, ms] = [instants[file]!, records[i + at.ms]!];
      if (ms < own.from) own.from = ms;
      if (ms > own.to) own.to = ms;
      const hash = () => order.keys.reduce((sum: number, key) => mixed(sum, records[i + key]!), 0);
      spans.add(file, ms, nanosOf(records[i + at.nanosAndCorrection]!), hash);
    }
  }
  return { instants, spans };
}

/** The range of instants that several files share; null = none. */
function overlapOf(files: readonly Instants[]): Instants | null {
  const overlap = { from: Infinity, to: -Infinity };
  let through = -Infinity;
  for (const { from, to } of files.toSorted((a, b) => a.from - b.from)) {
    if (from <= through) {
      overlap.from = Math.min(overlap.from, from);
      overlap.to = Math.max(overlap.to, Math.min(through, to));
    }
    through = Math.max(through, to);
  }
  return overlap.from <= overlap.to ? overlap : null;
}

// A record, and its position in its partition.
const placedAt = width;
const order = {
  width: width + 1,
  keys: [at.contract, at.ms, at.nanosAndCorrection, at.priceOrBid, at.sizeOrAsk, at.exchangeAndConditions],
};

/**
 * Marks by position the prints of an overlap that an earlier file contains too; a file that continues another has its
 * number. Returns their number.
 */
async function markRepeated(
  { fileEnds, ...from }: Shared,
  { from: first, to: last }: Instants,
  continued: ReadonlyMap<number, number>,
  marks: Uint8Array,
) {
  const sorter = new RecordSorter(order);
  let repeated = 0;
  try {
    const record = new Float64Array(order.width);
    let place = 0;
    for (const records of storedRecords(from)) {
      for (let i = 0; i < records.length; i += width, place++) {
        if (records[i + at.ms]! < first || records[i + at.ms]! > last) continue;
        for (let n = 0; n < width; n++) record[n] = records[i + n]!;
        record[placedAt] = place;
        const full = sorter.push(record);
        if (full) await full;
      }
    }
    const print = new Float64Array(width).fill(-1);
    // Number of occurrences by file, and the maximum of them so far.
    const inFile = new Uint32Array(fileEnds.length);
    let kept = 0;
    for await (const records of sorter.sorted()) {
      for (let i = 0; i < records.length; i += order.width) {
        const placed = records[i + placedAt]!;
        if (order.keys.some((key) => records[i + key] !== print[key])) {
          print.set(records.subarray(i, i + width));
          inFile.fill(0);
          kept = 0;
        }
        const ownFile = fileEnds.findIndex((end) => placed < end);
        const count = ++inFile[continued.get(ownFile) ?? ownFile]!;
        if (count > kept) kept = count;
        else {
          marks[placed] = 1;
          repeated++;
        }
      }
    }
    return repeated;
  } finally {
    await sorter.close();
  }
}

/** Replaces the prints by the unmarked ones. */
async function withoutMarked(
  from: { fd: number; partition: Partition },
  partitions: TapePartitions,
  marks: Uint8Array,
) {
  const { fd, partition } = from;
  const { parts, underlying } = partition;
  partitions.clear(partition);
  let place = 0;
  for (const records of storedRecords({ fd, parts })) {
    for (let i = 0; i < records.length; i += width) if (marks[place++] === 0) partitions.put(underlying, records, i);
    await partitions.flush();
  }
}

/**
 * Removes prints that an earlier file of the tape contains too. Call it while the partitions contain only the files'
 * prints. Only underlyings' days of several files are read, and prints are compared only where the files overlap in
 * time. Returns the number of removed prints, by session.
 */
export async function countOnce(
  partitions: TapePartitions,
  onPartition: () => void,
): Promise<Map<SessionDate, number>> {
  const repeated = new Map<SessionDate, number>();
  const shared = await partitions.shared();
  for (const partition of shared.partitions) {
    onPartition();
    const from = { fd: shared.fd, ...partition };
    const { instants, spans } = readFiles(from);
    const overlap = overlapOf(instants);
    if (!overlap) continue;
    const marks = new Uint8Array(partition.prints);
    const count = await markRepeated(from, overlap, spans.continued(), marks);
    if (count === 0) continue;
    await withoutMarked({ fd: shared.fd, partition }, partitions, marks);
    const session = dateOfEpochDay(partition.day);
    repeated.set(session, (repeated.get(session) ?? 0) + count);
  }
  return repeated;
}
