import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { recordAt as at, isQuote, recordWidth as width } from '../../tape/prints/option-records.ts';

// Maximum number of values in memory over all partitions; beyond it they are written.
const heldNumbers = 2 ** 21;
const firstNumbers = 64 * width;

/** The records of an underlying on one day, in a file in order of arrival. */
export interface Partition {
  /** Numbers of the underlying and of its day. */
  underlying: number;
  day: number;
  prints: number;
  quotes: number;
  /** True if it contains only prints, sorted by contract and then time. */
  isInOrder: boolean;
  /** Offset and length of its parts in the file, bytes. */
  parts: number[];
  /** Numbers of the vendor files that contain some of its prints, and the number of its prints at the end of each. */
  files: number[];
  fileEnds: number[];
}

interface Filling extends Partition {
  held: Uint32Array<ArrayBuffer>;
  length: number;
  lastContract: number;
  lastMs: number;
}

const emptyPartition = (underlying: number, day: number, files: number[] = []): Filling => ({
  underlying,
  day,
  prints: 0,
  quotes: 0,
  isInOrder: true,
  parts: [],
  files,
  fileEnds: [],
  held: new Uint32Array(firstNumbers),
  length: 0,
  lastContract: -1,
  lastMs: 0,
});

function add(to: Filling, records: Uint32Array, i: number): void {
  if (to.length === to.held.length) {
    const longer = new Uint32Array(2 * to.length);
    longer.set(to.held);
    to.held = longer;
  }
  const { held, length } = to;
  for (let n = 0; n < width; n++) held[length + n] = records[i + n]!;
  to.length = length + width;
  if (isQuote(records[i + at.nanosAndCorrection]!)) {
    to.quotes++;
    return;
  }
  to.prints++;
  const [contract, ms] = [records[i + at.contract]!, records[i + at.ms]!];
  if (contract < to.lastContract || (contract === to.lastContract && ms < to.lastMs)) to.isInOrder = false;
  to.lastContract = contract;
  to.lastMs = ms;
}

/** An open file without a name: it disappears when the process ends in any way. */
async function openUnnamed(parent: string): Promise<FileHandle> {
  const folder = await mkdtemp(join(parent, 'tapegraph-tape-'));
  try {
    return await open(join(folder, 'records'), 'w+');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function writeAll(file: FileHandle, pieces: Uint32Array<ArrayBuffer>[], from: number): Promise<void> {
  let at = from;
  for (const piece of pieces) {
    const bytes = new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength);
    for (let written = 0; written < bytes.length; )
      written += (await file.write(bytes, written, bytes.length - written, at + written)).bytesWritten;
    at += bytes.length;
  }
}

/**
 * Records by underlying and day, in a temporary file in the folder given. Memory does not grow with their number.
 * Always close it, also after an error.
 */
export class TapePartitions {
  readonly #parent: string;
  // By day, then underlying.
  readonly #days = new Map<number, Filling[]>();
  // The day of the last record, its partitions, and the record's.
  #lastDay = Number.NaN;
  #ofLastDay: Filling[] = [];
  #last: Filling | null = null;
  /** Numbers held in memory. */
  #held = 0;
  /** End of the file, bytes. */
  #offset = 0;
  #file: FileHandle | null = null;

  constructor(parent = tmpdir()) {
    this.#parent = parent;
  }

  /** Adds the record at `i`; a quote of an underlying's day without prints is skipped. */
  put(underlying: number, records: Uint32Array, i: number): void {
    const day = records[i + at.day]! | 0;
    if (isQuote(records[i + at.nanosAndCorrection]!) && this.#days.get(day)?.[underlying] === undefined) return;
    add(this.#partition(underlying, day), records, i);
    this.#held += width;
  }

  /** To be called where a vendor file ends, with its number. */
  endFile(file: number): void {
    for (const { prints, files, fileEnds } of this.#all()) {
      if (prints === (fileEnds.at(-1) ?? 0)) continue;
      files.push(file);
      fileEnds.push(prints);
    }
  }

  /** The partitions with prints of vendor files, and the numbers of these files. */
  parts(): readonly Pick<Partition, 'underlying' | 'day' | 'files'>[] {
    return this.#all().filter(({ prints }) => prints > 0);
  }

  /** Writes what is held. The file, and the partitions that several vendor files have prints of. */
  async shared(): Promise<{ fd: number; partitions: Partition[] }> {
    const partitions = this.#all().filter(({ fileEnds }) => fileEnds.length > 1);
    if (partitions.length > 0) await this.#write();
    return { fd: this.#file?.fd ?? -1, partitions };
  }

  /** Forgets an underlying's day; its part of the file can still be read. */
  clear({ underlying, day, files }: Partition): void {
    this.#days.get(day)![underlying] = emptyPartition(underlying, day, files);
  }

  /** To be called, and awaited, now and then: writes what is held if it is much. */
  async flush(): Promise<void> {
    if (this.#held >= heldNumbers) await this.#write();
  }

  /** The written records of an underlying's day; null = none. */
  async written(underlying: number, day: number): Promise<{ fd: number; partition: Partition } | null> {
    const partition = this.#days.get(day)?.[underlying];
    if (!partition) return null;
    const file = await this.#write();
    return { fd: file.fd, partition };
  }

  /** The days of its prints: the first and the last epoch day. */
  get days(): { first: number; last: number } {
    const known = [...this.#days.keys()];
    return { first: Math.min(...known), last: Math.max(...known) };
  }

  /** All is written: the file, and the partitions by day, then underlying. */
  async end(): Promise<{ fd: number; partitions: Partition[] }> {
    const file = await this.#write();
    const partitions = this.#all().sort((a, b) => a.day - b.day || a.underlying - b.underlying);
    for (const each of partitions) each.held = new Uint32Array(0);
    return { fd: file.fd, partitions };
  }

  /** Closes the file, which then is gone. */
  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = null;
  }

  /** Partitions that exist, by day in the order in which the days came, then underlying. */
  #all(): Filling[] {
    // The lists have holes, which a filter leaves out.
    return [...this.#days.values()].flatMap((fillings) => fillings.filter(() => true));
  }

  #partition(underlying: number, day: number): Filling {
    if (day !== this.#lastDay) {
      this.#ofLastDay = this.#days.get(day) ?? [];
      this.#days.set(day, this.#ofLastDay);
      this.#lastDay = day;
    }
    this.#ofLastDay[underlying] ??= emptyPartition(underlying, day);
    this.#last = this.#ofLastDay[underlying];
    return this.#last;
  }

  /** Writes what is held; the file. */
  async #write(): Promise<FileHandle> {
    this.#file ??= await openUnnamed(this.#parent);
    const fillings = this.#all();
    const pieces: Uint32Array<ArrayBuffer>[] = [];
    let end = this.#offset;
    for (const filling of fillings) {
      if (filling.length === 0) continue;
      const piece = filling.held.subarray(0, filling.length);
      pieces.push(piece);
      filling.parts.push(end, piece.byteLength);
      end += piece.byteLength;
      filling.length = 0;
    }
    await writeAll(this.#file, pieces, this.#offset);
    this.#offset = end;
    this.#held = 0;
    // Memory of a partition that has ended is not needed; the one that is being filled keeps its own.
    for (const filling of fillings)
      if (filling !== this.#last && filling.held.length > firstNumbers) filling.held = new Uint32Array(firstNumbers);
    return this.#file;
  }
}
