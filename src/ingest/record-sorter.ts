import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// Records sorted at a time. Their number takes 18 of the 53 bits of a key's double; the instant has the rest, a year in ms.
const runBits = 18;
export const recordsInRun = 2 ** runBits;
const longestSpan = 2 ** (53 - runBits);
// Records of a run read at a time while runs are merged.
const recordsInWindow = 2 ** 11;

/** Places of the two numbers by which records are ordered. */
const at = { group: 0, tsMs: 1 } as const;

/**
 * Records of `width` numbers, put in order of their first number (a group, a whole number from 0) and then their second (an instant,
 * epoch ms); of equals the one that came first. Memory holds one run and a window of each; what is beyond lies in a temporary file.
 */
export interface RecordSorter {
  push(record: ArrayLike<number>): void | Promise<void>;
  readonly size: number;
  /** The records one after another, a batch at a time; a batch holds until the next is asked for. To be called once. */
  sorted(): AsyncGenerator<Float64Array>;
  /** Removes the temporary file, if there was one. */
  close(): Promise<void>;
}

/** Indexes of a run's records in order. */
function orderOf(records: Float64Array, width: number, count: number): Float64Array {
  const groups = new Map<number, number>();
  let first = Infinity;
  let last = -Infinity;
  for (let i = 0; i < count; i++) {
    const group = records[i * width + at.group]!;
    groups.set(group, (groups.get(group) ?? 0) + 1);
    const tsMs = records[i * width + at.tsMs]!;
    if (tsMs < first) first = tsMs;
    if (tsMs > last) last = tsMs;
  }
  if (last - first >= longestSpan) throw new RangeError('instants more than a year apart');
  let next = 0;
  const starts = new Map<number, number>();
  for (const group of [...groups.keys()].sort((a, b) => a - b)) {
    starts.set(group, next);
    next += groups.get(group)!;
  }
  const keys = new Float64Array(count);
  const places = new Map(starts);
  for (let i = 0; i < count; i++) {
    const group = records[i * width + at.group]!;
    const place = places.get(group)!;
    keys[place] = (records[i * width + at.tsMs]! - first) * recordsInRun + i;
    places.set(group, place + 1);
  }
  for (const [group, start] of starts) keys.subarray(start, start + groups.get(group)!).sort();
  for (let i = 0; i < count; i++) keys[i] = keys[i]! % recordsInRun;
  return keys;
}

function inOrder(records: Float64Array, width: number, count: number): Float64Array {
  const order = orderOf(records, width, count);
  const ordered = new Float64Array(count * width);
  for (let i = 0; i < count; i++) {
    const from = order[i]! * width;
    for (let n = 0; n < width; n++) ordered[i * width + n] = records[from + n]!;
  }
  return ordered;
}

/** A sorted run in the file, and the part of it that is in memory. */
interface Run {
  number: number;
  window: Float64Array;
  /** Place in the window, and its end, in numbers. */
  place: number;
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
  run.place = 0;
  run.end = bytes / 8;
}

function comesBefore(a: Run, b: Run): boolean {
  const group = a.window[a.place + at.group]! - b.window[b.place + at.group]!;
  if (group !== 0) return group < 0;
  const tsMs = a.window[a.place + at.tsMs]! - b.window[b.place + at.tsMs]!;
  return tsMs === 0 ? a.number < b.number : tsMs < 0;
}

/** Puts the first of a heap of runs, whose record changed, back in its place. */
function sink(heap: Run[]): void {
  const run = heap[0]!;
  let place = 0;
  for (;;) {
    let child = 2 * place + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && comesBefore(heap[child + 1]!, heap[child]!)) child++;
    if (!comesBefore(heap[child]!, run)) break;
    heap[place] = heap[child]!;
    place = child;
  }
  heap[place] = run;
}

async function* merged(file: FileHandle, width: number, ends: readonly number[]): AsyncGenerator<Float64Array> {
  const heap: Run[] = [];
  for (const [number, fileEnd] of ends.entries()) {
    const window = new Float64Array(recordsInWindow * width);
    const run = { number, window, place: 0, end: 0, offset: ends[number - 1] ?? 0, fileEnd };
    await fill(run, file);
    heap.push(run);
  }
  heap.sort((a, b) => (comesBefore(a, b) ? -1 : 1));
  const batch = new Float64Array(recordsInWindow * width);
  let filled = 0;
  while (heap.length > 0) {
    const run = heap[0]!;
    for (let n = 0; n < width; n++) batch[filled + n] = run.window[run.place + n]!;
    filled += width;
    run.place += width;
    if (run.place === run.end) {
      if (run.offset < run.fileEnd) await fill(run, file);
      else {
        const last = heap.pop()!;
        if (heap.length > 0) heap[0] = last;
      }
    }
    if (heap.length > 1) sink(heap);
    if (filled < batch.length && heap.length > 0) continue;
    yield batch.subarray(0, filled);
    filled = 0;
  }
}

/** An empty sorter of records of `width` numbers; its file goes into a folder of its own in `parent`. Close it, whatever happened. */
export function createRecordSorter(width: number, parent = tmpdir()): RecordSorter {
  let records = new Float64Array(1024 * width);
  let count = 0;
  let size = 0;
  let folder: string | null = null;
  let file: FileHandle | null = null;
  const ends: number[] = [];

  async function spill() {
    if (!file) {
      folder = await mkdtemp(join(parent, 'tapegraph-sort-'));
      file = await open(join(folder, 'runs'), 'w+');
    }
    const bytes = new Uint8Array(inOrder(records, width, count).buffer);
    const from = ends.at(-1) ?? 0;
    for (let written = 0; written < bytes.length; )
      written += (await file.write(bytes, written, bytes.length - written, from + written)).bytesWritten;
    ends.push(from + bytes.length);
    count = 0;
  }

  return {
    push(record) {
      if (count * width === records.length) {
        const longer = new Float64Array(Math.min(2 * count, recordsInRun) * width);
        longer.set(records);
        records = longer;
      }
      for (let n = 0; n < width; n++) records[count * width + n] = record[n]!;
      size++;
      if (++count === recordsInRun) return spill();
    },
    get size() {
      return size;
    },
    async *sorted() {
      if (!file) {
        if (count > 0) yield inOrder(records, width, count);
        return;
      }
      if (count > 0) await spill();
      records = new Float64Array(0);
      yield* merged(file, width, ends);
    },
    async close() {
      await file?.close();
      if (folder !== null) await rm(folder, { recursive: true, force: true });
      file = null;
      folder = null;
    },
  };
}
