import { type FileHandle, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { temporaryFolder } from '../../runtime/temporary-folder.ts';

/** Records sorted at a time. */
export const recordsInRun = 2 ** 18;
// Records of a run read at a time while runs are merged.
const recordsInWindow = 2 ** 11;
// Bits of an instant by which records are dealt out in one pass.
const digitBits = 11;
const digits = 2 ** digitBits;

/** Layout and order of records. */
export interface RecordOrder {
  /** Numbers of a record. */
  width: number;
  /** Offsets of the whole numbers by which records are ordered, the first of them first. */
  keys: readonly number[];
}

/**
 * Records of some numbers, put in order; of equals the one that came first. Memory holds two runs and a window of each;
 * what is beyond lies in a temporary file. Records that come in order are not sorted again.
 */
export interface RecordSorter {
  push(record: ArrayLike<number>): void | Promise<void>;
  readonly size: number;
  /** The records one after another, a batch at a time; a batch holds until the next is asked for. To be called once. */
  sorted(): AsyncGenerator<Float64Array>;
  /** Removes the temporary file, if there was one. */
  close(): Promise<void>;
}

/** The order of the record at `i` of `a` and the one at `j` of `b`: below zero, `a`'s is first. */
function compare(keys: readonly number[], a: ArrayLike<number>, i: number, b: ArrayLike<number>, j: number): number {
  for (let k = 0; k < keys.length; k++) {
    const difference = a[i + keys[k]!]! - b[j + keys[k]!]!;
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Sorts positions by their digit, which is below `digits`: those of equal digits stay in their order. */
function dealt(positions: Uint32Array, digitOf: Uint32Array, digits: number): Uint32Array<ArrayBuffer> {
  const { length } = positions;
  const ends = new Uint32Array(digits + 1);
  for (let i = 0; i < length; i++) ends[digitOf[i]! + 1]!++;
  for (let i = 0; i < digits; i++) ends[i + 1]! += ends[i]!;
  const ordered = new Uint32Array(length);
  for (let i = 0; i < length; i++) {
    const position = positions[i]!;
    ordered[ends[digitOf[position]!]!++] = position;
  }
  return ordered;
}

/** Indexes of a run's records in order: dealt by the digits of each key, the last key's lowest first. */
function orderOf(records: Float64Array, { width, keys }: RecordOrder, count: number): Uint32Array {
  let order = new Uint32Array(count);
  for (let i = 0; i < count; i++) order[i] = i;
  const values = new Float64Array(count);
  const digitOf = new Uint32Array(count);
  for (const key of keys.toReversed()) {
    let [first, last] = [Infinity, -Infinity];
    for (let i = 0; i < count; i++) {
      const value = records[i * width + key]!;
      values[i] = value;
      if (value < first) first = value;
      if (value > last) last = value;
    }
    for (let unit = 1; unit <= last - first; unit *= digits) {
      const perUnit = 1 / unit;
      for (let i = 0; i < count; i++) digitOf[i] = ((values[i]! - first) * perUnit) & (digits - 1);
      order = dealt(order, digitOf, digits);
    }
  }
  return order;
}

/** Copies a run's records in order. */
function putInOrder(records: Float64Array, order: RecordOrder, count: number, into: Float64Array): void {
  const { width } = order;
  const indexes = orderOf(records, order, count);
  for (let i = 0; i < count; i++) {
    const from = indexes[i]! * width;
    for (let n = 0; n < width; n++) into[i * width + n] = records[from + n]!;
  }
}

/** A sorted run in the file, and the part of it that is in memory. */
interface Run {
  number: number;
  window: Float64Array;
  /** Position in the window, and its end, in numbers. */
  position: number;
  end: number;
  /** Bytes of the file not read yet. */
  offset: number;
  fileEnd: number;
}

async function fill(run: Run, file: FileHandle): Promise<void> {
  const bytes = Math.min(run.window.byteLength, run.fileEnd - run.offset);
  const { bytesRead } = await file.read(new Uint8Array(run.window.buffer), 0, bytes, run.offset);
  if (bytesRead !== bytes)
    throw new Error('the temporary file of sorted records is shorter than what was written to it');
  run.offset += bytes;
  run.position = 0;
  run.end = bytes / 8;
}

type ComesBefore = (a: Run, b: Run) => boolean;

function runOrder(keys: readonly number[]): ComesBefore {
  return (a, b) => {
    const difference = compare(keys, a.window, a.position, b.window, b.position);
    return difference === 0 ? a.number < b.number : difference < 0;
  };
}

/** Moves the first of a heap of runs, whose record changed, to its position. */
function sink(heap: Run[], comesBefore: ComesBefore): void {
  const run = heap[0]!;
  let position = 0;
  for (;;) {
    let child = 2 * position + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && comesBefore(heap[child + 1]!, heap[child]!)) child++;
    if (!comesBefore(heap[child]!, run)) break;
    heap[position] = heap[child]!;
    position = child;
  }
  heap[position] = run;
}

async function* merged(
  file: FileHandle,
  { width, keys }: RecordOrder,
  ends: readonly number[],
): AsyncGenerator<Float64Array> {
  const comesBefore = runOrder(keys);
  const heap: Run[] = [];
  for (const [number, fileEnd] of ends.entries()) {
    const window = new Float64Array(recordsInWindow * width);
    const run = { number, window, position: 0, end: 0, offset: ends[number - 1] ?? 0, fileEnd };
    await fill(run, file);
    heap.push(run);
  }
  heap.sort((a, b) => (comesBefore(a, b) ? -1 : 1));
  const batch = new Float64Array(recordsInWindow * width);
  let filled = 0;
  while (heap.length > 0) {
    const run = heap[0]!;
    const rival = heap.length > 2 && comesBefore(heap[2]!, heap[1]!) ? heap[2] : heap[1];
    // A run's records often follow each other: until another run's come before them, no other is looked at.
    do {
      for (let n = 0; n < width; n++) batch[filled + n] = run.window[run.position + n]!;
      filled += width;
      run.position += width;
    } while (run.position < run.end && filled < batch.length && (!rival || comesBefore(run, rival)));
    if (run.position === run.end) {
      if (run.offset < run.fileEnd) await fill(run, file);
      else {
        const last = heap.pop()!;
        if (heap.length > 0) heap[0] = last;
      }
    }
    if (heap.length > 1) sink(heap, comesBefore);
    if (filled < batch.length && heap.length > 0) continue;
    yield batch.subarray(0, filled);
    filled = 0;
  }
}

/** An empty sorter; its file goes into a folder of its own in `parent`. Always close it, also after an error. */
export function createRecordSorter(order: RecordOrder, parent = tmpdir()): RecordSorter {
  const { width, keys } = order;
  let records = new Float64Array(1024 * width);
  let spare = new Float64Array(0);
  // True if the records of the run came in order.
  let isInOrder = true;
  let count = 0;
  let size = 0;
  let folder: string | null = null;
  let file: FileHandle | null = null;
  // The last run is written while the next is filled.
  let writing: Promise<void> | null = null;
  const ends: number[] = [];

  async function write(to: FileHandle, bytes: Uint8Array, from: number) {
    for (let written = 0; written < bytes.length; )
      written += (await to.write(bytes, written, bytes.length - written, from + written)).bytesWritten;
  }

  /** The run in order. It is valid until the next run is read: two buffers alternate. */
  function takeRun(): Float64Array<ArrayBuffer> {
    if (spare.length < records.length) spare = new Float64Array(records.length);
    if (!isInOrder) putInOrder(records, order, count, spare);
    else [records, spare] = [spare, records];
    const run = spare.subarray(0, count * width);
    count = 0;
    isInOrder = true;
    return run;
  }

  async function spill() {
    if (!file) {
      folder = await temporaryFolder('sort', parent);
      file = await open(join(folder, 'runs'), 'w+');
    }
    await writing;
    const run = takeRun();
    const from = ends.at(-1) ?? 0;
    ends.push(from + run.byteLength);
    writing = write(file, new Uint8Array(run.buffer, run.byteOffset, run.byteLength), from);
    // A failure is met where it is awaited.
    writing.catch(() => {});
  }

  return {
    push(record) {
      if (count * width === records.length) {
        const longer = new Float64Array(Math.min(2 * count, recordsInRun) * width);
        longer.set(records);
        records = longer;
      }
      const at = count * width;
      if (isInOrder && count > 0 && compare(keys, record, 0, records, at - width) < 0) isInOrder = false;
      for (let n = 0; n < width; n++) records[at + n] = record[n]!;
      size++;
      if (++count === recordsInRun) return spill();
    },
    get size() {
      return size;
    },
    async *sorted() {
      if (!file) {
        if (count > 0) yield takeRun();
        return;
      }
      if (count > 0) await spill();
      await writing;
      records = spare = new Float64Array(0);
      yield* merged(file, order, ends);
    },
    async close() {
      await writing?.catch(() => {});
      await file?.close();
      if (folder !== null) await rm(folder, { recursive: true, force: true });
      file = null;
      folder = null;
    },
  };
}
