import type { BarColumns, GivenBar } from '../../../core/domain/market/bar.ts';
import { dateOfEpochDay } from '../../../core/domain/market-time.ts';
import { dayMs, minuteMs } from '../../../platform/runtime/clock.ts';
import { type CsvFormat, readCsv } from '../../tape/csv/csv.ts';
import { TapeFileError } from '../../tape/csv/tape-file.ts';
import { closedDayCounter } from '../../tape/prints/closed-days.ts';
import { type BarBatch, barBatch, type EqualBars } from './bar-batch.ts';
import type { FileJob, FileResult } from './file-job.ts';

// Number of bars in memory before a write. A file sorted by ticker, as from vendors, then writes nearly every block
// once; one in any other order merges each block once per batch, in the same memory.
const batchBars = 400_000;

/** Bars by key; each run ascends. */
export type BarRuns = Iterable<[key: string, bars: BarColumns]>;

/** Handling of a file's records: `push` adds one to a batch, `write` stores runs and returns the number of changes. */
interface BarFileWork<R> {
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

/**
 * One write in progress while the next is prepared: the database works while this process continues reading, and memory
 * holds two batches at most.
 */
interface WriteBehind {
  /**
   * Waits for the previous write, then starts `write` without waiting for it. Throws the error of the previous write.
   */
  next(write: () => Promise<void>): Promise<void>;
  /** Waits for the last write. */
  done(): Promise<void>;
}

/** Creates a write-behind. */
function writeBehind(): WriteBehind {
  let pending: Promise<void> = Promise.resolve();
  return {
    async next(write) {
      await pending;
      pending = write();
      // Its failure is thrown at the next call; until then it must not count as unhandled.
      pending.catch(() => {});
    },
    done: () => pending,
  };
}

/*
 * Checks of a file's bars: one per instrument and start (methodology 13), in the length of the dataset.
 */

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));

/** Gaps between successive bars, minutes. */
class Gaps {
  #divisor = 0;
  #count = 0;

  add(minutes: number): void {
    this.#divisor = gcd(this.#divisor, minutes);
    this.#count++;
  }

  /** The largest length of which all gaps are multiples, minutes. */
  get length(): number {
    return this.#divisor;
  }

  /** Number of decimal places of the chance that bars of a minute have such gaps. */
  get places(): number {
    return this.#count === 0 ? 0 : this.#count * Math.log10(this.#divisor);
  }
}

/** Chances, in decimal places, below which bars are not minutes: of a whole file, and of one of many instruments. */
const [ofFile, ofInstrument] = [6, 10];
/** Longer gaps are between sessions, minutes. */
const longestPause = 12 * 60;
const minutesOfDay = dayMs / minuteMs;
/** Days from one bar to the next, and the number of such gaps between dates, from which bars are of weeks or months. */
const [longestHolidays, enoughGaps] = [5, 4];

/** Checks the length of a file's bars by their starts: a longer bar stored as a shorter one falsifies all between. */
class BarLength {
  readonly #within = new Gaps();
  readonly #between = new Gaps();
  #closestDays = Number.POSITIVE_INFINITY;
  // Instruments of a file have gaps at the same dates: those are one sign, however many the instruments.
  readonly #dates = new Set<number>();
  #suspect = 0;

  /** Adds an instrument's bars, ascending. */
  add({ tsMs }: BarColumns): void {
    const own = new Gaps();
    for (const ms of tsMs) this.#dates.add(Math.floor(ms / dayMs));
    for (let i = 1; i < tsMs.length; i++) {
      const minutes = Math.round((tsMs[i]! - tsMs[i - 1]!) / minuteMs);
      this.#closestDays = Math.min(this.#closestDays, Math.round(minutes / minutesOfDay));
      if (minutes > longestPause) this.#between.add(minutes);
      else {
        own.add(minutes);
        this.#within.add(minutes);
      }
    }
    if (own.places >= ofInstrument) this.#suspect = own.length;
  }

  /** The length of the bars if they are not minutes, minutes; null otherwise. */
  longMinutes(): number | null {
    if (this.#suspect > 0) return this.#suspect;
    if (this.#within.places >= ofFile) return this.#within.length;
    return this.#within.length === 0 && this.#between.places >= ofFile ? minutesOfDay : null;
  }

  /** The fewest days from one bar to the next if they are not days; null otherwise. */
  longDays(): number | null {
    return this.#dates.size > enoughGaps && Number.isFinite(this.#closestDays) && this.#closestDays >= longestHolidays
      ? this.#closestDays
      : null;
  }
}

/** Starts of bars that were written, in one table: 12 to 24 bytes a bar. */
class WrittenStarts {
  #table = new Float64Array(1 << 16).fill(-1);
  #count = 0;
  readonly #ids = new Map<string, number>();

  /** Adds the starts of a key's bars. Returns one that was added before; null if there is none. */
  add(key: string, { tsMs }: BarColumns): number | null {
    let id = this.#ids.get(key);
    const isNew = id === undefined;
    if (id === undefined) {
      id = this.#ids.size;
      this.#ids.set(key, id);
    }
    for (const ms of tsMs) {
      if (2 * (this.#count + 1) > this.#table.length) this.#grow();
      // A minute since 1970 takes 26 bits until 2097.
      if (!this.#put(id * 2 ** 26 + ms / minuteMs) && !isNew) return ms;
    }
    return null;
  }

  #put(value: number): boolean {
    const mask = this.#table.length - 1;
    let at = (Math.imul((value % 2 ** 26) | 0, 0x9e3779b1) ^ Math.imul(Math.floor(value / 2 ** 26), 0x85ebca6b)) & mask;
    for (; this.#table[at] !== -1; at = (at + 1) & mask) if (this.#table[at] === value) return false;
    this.#table[at] = value;
    this.#count++;
    return true;
  }

  #grow(): void {
    const values = this.#table;
    this.#table = new Float64Array(values.length * 2).fill(-1);
    this.#count = 0;
    for (const value of values) if (value !== -1) this.#put(value);
  }
}

/** The length of a dataset's bars. */
type BarLengthName = 'minute' | 'day';

/** Checks of a file of bars, over all its batches. */
class BarChecks implements EqualBars {
  readonly #path: string;
  readonly #length: BarLengthName;
  readonly #spacing = new BarLength();
  readonly #written = new WrittenStarts();
  #repeats = 0;

  constructor(path: string, length: BarLengthName) {
    this.#path = path;
    this.#length = length;
  }

  onRepeat(): void {
    this.#repeats++;
  }

  #shownStart(tsMs: number): string {
    return this.#length === 'day' ? dateOfEpochDay(Math.floor(tsMs / dayMs)) : new Date(tsMs).toISOString();
  }

  differing(key: string, tsMs: number): TapeFileError {
    return new TapeFileError(
      this.#path,
      `lines of one bar differ: ${key} at ${this.#shownStart(tsMs)}; expected one line per instrument and start: ` +
        'bars of venues cannot be told from corrections here',
    );
  }

  /** Adds a key's bars. `more`: others may follow in a later batch. Throws `TapeFileError`. */
  add(key: string, bars: BarColumns, more: boolean): void {
    this.#spacing.add(bars);
    if (!more) return;
    const twice = this.#written.add(key, bars);
    if (twice === null) return;
    throw new TapeFileError(
      this.#path,
      `two lines far apart have one bar: ${key} at ${this.#shownStart(twice)}; sort the file by instrument and start`,
    );
  }

  /** Called after the last bar. Returns notes for the report. Throws `TapeFileError` for bars of another length. */
  done(): string[] {
    const minutes = this.#length === 'minute' ? this.#spacing.longMinutes() : null;
    if (minutes !== null)
      throw new TapeFileError(
        this.#path,
        `expected bars of a minute, but all of an instrument start at multiples of ${minutes} minutes`,
      );
    const days = this.#length === 'day' ? this.#spacing.longDays() : null;
    if (days !== null)
      throw new TapeFileError(this.#path, `expected bars of a day, but all are ${days} or more days apart`);
    return this.#repeats > 0 ? [`${this.#repeats} lines repeat others of the file and count once`] : [];
  }
}
