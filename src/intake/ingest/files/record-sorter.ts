import { type FileHandle, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { temporaryFolder } from '../../../platform/runtime/folders.ts';

/** Number of records per sorted run. */
export const recordsInRun = 2 ** 18;
// Number of records of a run to read at a time during the merge.
const recordsInWindow = 2 ** 11;
// Bits of an instant per radix pass.
const digitBits = 11;
const digits = 2 ** digitBits;

/** Layout and order of records. */
export interface RecordOrder {
  /** Number of values per record. */
  width: number;
  /** Offsets of the integers by which records are sorted, the most significant first. */
  keys: readonly number[];
}

/** The order of the record at `i` of `a` and the one at `j` of `b`: below zero, `a`'s is first. */
function compare(keys: readonly number[], a: ArrayLike<number>, i: number, b: ArrayLike<number>, j: number): number {
  for (let k = 0; k < keys.length; k++) {
    const difference = a[i + keys[k]!]! - b[j + keys[k]!]!;
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Sorts positions stably by their digit, which is below `digits`. */
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

/** Indexes of a run's sorted records: radix sort by the digits of each key, least significant first. */
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

/** Copies a run's records in sorted order. */
function putInOrder(records: Float64Array, order: RecordOrder, count: number, into: Float64Array): void {
  const { width } = order;
  const indexes = orderOf(records, order, count);
  for (let i = 0; i < count; i++) {
    const from = indexes[i]! * width;
    for (let n = 0; n < width; n++) into[i * width + n] = records[from + n]!;
  }
}

/** A sorted run in the file, with its window in memory. */
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

/** Moves the first run of a heap, whose record changed, to its position. */
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
    // Consecutive records are often of one run: no other run is compared until its next record is smaller.
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

async function writeAt(file: FileHandle, bytes: Uint8Array, from: number): Promise<void> {
  for (let written = 0; written < bytes.length; )
    written += (await file.write(bytes, written, bytes.length - written, from + written)).bytesWritten;
}

/**
 * Records of some numbers, put in order; of equals the one that came first. Memory holds two runs and a window of each;
 * the rest is in a temporary file, in a folder of its own in `parent`. Records that come in order are not sorted again.
 * Always close it, also after an error.
 */
export class RecordSorter {
  readonly #order: RecordOrder;
  readonly #parent: string;
  /** The run that is being filled, and a buffer that alternates with it. */
  #records: Float64Array<ArrayBuffer>;
  #spare = new Float64Array(0);
  /** Records of the run. */
  #count = 0;
  /** True if the records of the run came in order. */
  #isInOrder = true;
  #size = 0;
  #folder: string | null = null;
  #file: FileHandle | null = null;
  /** The last run is written while the next is filled. */
  #writing: Promise<void> | null = null;
  /** Ends of the runs in the file, bytes. */
  readonly #ends: number[] = [];

  constructor(order: RecordOrder, parent = tmpdir()) {
    this.#order = order;
    this.#parent = parent;
    this.#records = new Float64Array(1024 * order.width);
  }

  get size(): number {
    return this.#size;
  }

  push(record: ArrayLike<number>): void | Promise<void> {
    const { width, keys } = this.#order;
    const at = this.#count * width;
    if (at === this.#records.length) this.#grow();
    const records = this.#records;
    if (this.#isInOrder && at > 0 && compare(keys, record, 0, records, at - width) < 0) this.#isInOrder = false;
    for (let n = 0; n < width; n++) records[at + n] = record[n]!;
    this.#size++;
    if (++this.#count === recordsInRun) return this.#spill();
  }

  /** The records one after another, a batch at a time; a batch holds until the next is asked for. To be called once. */
  async *sorted(): AsyncGenerator<Float64Array> {
    if (!this.#file) {
      if (this.#count > 0) yield this.#takeRun();
      return;
    }
    if (this.#count > 0) await this.#spill();
    await this.#writing;
    this.#records = this.#spare = new Float64Array(0);
    yield* merged(this.#file, this.#order, this.#ends);
  }

  /** Removes the temporary file, if there was one. */
  async close(): Promise<void> {
    await this.#writing?.catch(() => {});
    await this.#file?.close();
    if (this.#folder !== null) await rm(this.#folder, { recursive: true, force: true });
    this.#file = null;
    this.#folder = null;
  }

  #grow(): void {
    const longer = new Float64Array(Math.min(2 * this.#count, recordsInRun) * this.#order.width);
    longer.set(this.#records);
    this.#records = longer;
  }

  /** The run in order. It is valid until the next run is read: two buffers alternate. */
  #takeRun(): Float64Array<ArrayBuffer> {
    if (this.#spare.length < this.#records.length) this.#spare = new Float64Array(this.#records.length);
    if (!this.#isInOrder) putInOrder(this.#records, this.#order, this.#count, this.#spare);
    else [this.#records, this.#spare] = [this.#spare, this.#records];
    const run = this.#spare.subarray(0, this.#count * this.#order.width);
    this.#count = 0;
    this.#isInOrder = true;
    return run;
  }

  /** Writes the run, once the one before it is written. */
  async #spill(): Promise<void> {
    if (!this.#file) {
      this.#folder = await temporaryFolder('sort', this.#parent);
      this.#file = await open(join(this.#folder, 'runs'), 'w+');
    }
    await this.#writing;
    const run = this.#takeRun();
    const from = this.#ends.at(-1) ?? 0;
    this.#ends.push(from + run.byteLength);
    this.#writing = writeAt(this.#file, new Uint8Array(run.buffer, run.byteOffset, run.byteLength), from);
    // A failure is met where it is awaited.
    this.#writing.catch(() => {});
  }
}
