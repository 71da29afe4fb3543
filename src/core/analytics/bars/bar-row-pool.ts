import { addToRow, type BarPrint, type BarRows, barStride, clearRow, isOfBar } from './bar-rows.ts';

/*
 * A tape names tens of thousands of contracts, and most of them trade in few minutes. Their buckets share memory, in
 * the order in which they were begun, so that a new bucket needs no array of its own, and writes are close together.
 */

const blockBits = 12;
const rowsInBlock = 2 ** blockBits;
const none = -1;

/** Position of a bucket in its block. */
function rowOf(bucket: number): number {
  return (bucket & (rowsInBlock - 1)) * barStride;
}

/** Buckets of many series, known by small numbers. */
export class BarRowPool {
  readonly #blocks: Float64Array[] = [];
  // By bucket: the one of its series that starts before it.
  readonly #previous: Int32Array[] = [];
  #count = 0;
  // By series: its latest bucket.
  #heads = new Int32Array(256).fill(none);

  /** Adds a print to the bucket of a series that starts at `startMs`; as `addToBar`. */
  add(series: number, startMs: number, print: BarPrint, before: (a: number, b: number) => boolean): void {
    if (!isOfBar(print)) return;
    const bucket = this.#bucketOf(series, startMs);
    addToRow(this.#blockOf(bucket), rowOf(bucket), print, before);
  }

  /** Empties a bucket, to be filled again from the prints that stand. */
  empty(series: number, startMs: number): void {
    let bucket = this.#headOf(series);
    while (bucket !== none && this.#startOf(bucket) > startMs) bucket = this.#before(bucket);
    if (bucket !== none && this.#startOf(bucket) === startMs) clearRow(this.#blockOf(bucket), rowOf(bucket));
  }

  /** A copy of a series' buckets that start at or after `fromMs`, ascending. */
  rows(series: number, fromMs: number): BarRows {
    const head = this.#headOf(series);
    let count = 0;
    for (let bucket = head; bucket !== none && this.#startOf(bucket) >= fromMs; bucket = this.#before(bucket)) count++;
    const values = new Float64Array(count * barStride);
    let bucket = head;
    for (let index = count - 1; index >= 0; index--, bucket = this.#before(bucket)) {
      const row = rowOf(bucket);
      values.set(this.#blockOf(bucket).subarray(row, row + barStride), index * barStride);
    }
    return { values, count };
  }

  #blockOf(bucket: number): Float64Array {
    return this.#blocks[bucket >> blockBits]!;
  }

  #startOf(bucket: number): number {
    return this.#blockOf(bucket)[rowOf(bucket)]!;
  }

  #before(bucket: number): number {
    return this.#previous[bucket >> blockBits]![bucket & (rowsInBlock - 1)]!;
  }

  #headOf(series: number): number {
    return series < this.#heads.length ? this.#heads[series]! : none;
  }

  /**
   * The bucket that starts at `startMs`, created if necessary. Prints are nearly always in order, so it is usually the
   * latest.
   */
  #bucketOf(series: number, startMs: number): number {
    if (series >= this.#heads.length) {
      const longer = new Int32Array(Math.max(2 * this.#heads.length, series + 1)).fill(none);
      longer.set(this.#heads);
      this.#heads = longer;
    }
    let later = none;
    let bucket = this.#heads[series]!;
    for (; bucket !== none; later = bucket, bucket = this.#before(bucket)) {
      const start = this.#startOf(bucket);
      if (start === startMs) return bucket;
      if (start < startMs) break;
    }
    return this.#begin(series, startMs, bucket, later);
  }

  #begin(series: number, startMs: number, earlier: number, later: number): number {
    const bucket = this.#count++;
    if (bucket >> blockBits === this.#blocks.length) {
      this.#blocks.push(new Float64Array(rowsInBlock * barStride));
      this.#previous.push(new Int32Array(rowsInBlock));
    }
    this.#previous[bucket >> blockBits]![bucket & (rowsInBlock - 1)] = earlier;
    if (later === none) this.#heads[series] = bucket;
    else this.#previous[later >> blockBits]![later & (rowsInBlock - 1)] = bucket;
    const values = this.#blockOf(bucket);
    values[rowOf(bucket)] = startMs;
    clearRow(values, rowOf(bucket));
    return bucket;
  }
}
