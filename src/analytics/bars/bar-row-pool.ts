import { addToRow, type BarPrint, type BarRows, barStride, clearRow, isOfBar } from './bar-rows.ts';

/*
 * A tape names tens of thousands of contracts, and most of them trade in few minutes. Their buckets share memory, in
 * the order in which they were begun, so that a new bucket needs no array of its own, and writes are close together.
 */

const blockBits = 12;
const rowsInBlock = 2 ** blockBits;
const none = -1;

/** Buckets of many series, known by small numbers. */
export interface BarRowPool {
  /** Adds a print to the bucket of a series that starts at `startMs`; as `addToBar`. */
  add(series: number, startMs: number, print: BarPrint, before: (a: number, b: number) => boolean): void;
  /** Empties a bucket, to be filled again from the prints that stand. */
  empty(series: number, startMs: number): void;
  /** A copy of a series' buckets that start at or after `fromMs`, ascending. */
  rows(series: number, fromMs: number): BarRows;
}

/** No buckets. */
export function createBarRowPool(): BarRowPool {
  const blocks: Float64Array[] = [];
  // By bucket: the one of its series that starts before it.
  const previous: Int32Array[] = [];
  let count = 0;
  // By series: its latest bucket.
  let heads = new Int32Array(256).fill(none);

  const blockOf = (bucket: number) => blocks[bucket >> blockBits]!;
  const rowOf = (bucket: number) => (bucket & (rowsInBlock - 1)) * barStride;
  const startOf = (bucket: number) => blockOf(bucket)[rowOf(bucket)]!;
  const before = (bucket: number) => previous[bucket >> blockBits]![bucket & (rowsInBlock - 1)]!;
  const headOf = (series: number) => (series < heads.length ? heads[series]! : none);

  function begin(series: number, startMs: number, earlier: number, later: number): number {
    const bucket = count++;
    if (bucket >> blockBits === blocks.length) {
      blocks.push(new Float64Array(rowsInBlock * barStride));
      previous.push(new Int32Array(rowsInBlock));
    }
    previous[bucket >> blockBits]![bucket & (rowsInBlock - 1)] = earlier;
    if (later === none) heads[series] = bucket;
    else previous[later >> blockBits]![later & (rowsInBlock - 1)] = bucket;
    const values = blockOf(bucket);
    values[rowOf(bucket)] = startMs;
    clearRow(values, rowOf(bucket));
    return bucket;
  }

  /**
   * The bucket that starts at `startMs`, made when there is none. Prints come in order, so that it is nearly always the
   * latest.
   */
  function bucketOf(series: number, startMs: number): number {
    if (series >= heads.length) {
      const longer = new Int32Array(Math.max(2 * heads.length, series + 1)).fill(none);
      longer.set(heads);
      heads = longer;
    }
    let later = none;
    let bucket = heads[series]!;
    for (; bucket !== none; later = bucket, bucket = before(bucket)) {
      const start = startOf(bucket);
      if (start === startMs) return bucket;
      if (start < startMs) break;
    }
    return begin(series, startMs, bucket, later);
  }

  return {
    add(series, startMs, print, printBefore) {
      if (!isOfBar(print)) return;
      const bucket = bucketOf(series, startMs);
      addToRow(blockOf(bucket), rowOf(bucket), print, printBefore);
    },
    empty(series, startMs) {
      let bucket = headOf(series);
      while (bucket !== none && startOf(bucket) > startMs) bucket = before(bucket);
      if (bucket !== none && startOf(bucket) === startMs) clearRow(blockOf(bucket), rowOf(bucket));
    },
    rows(series, fromMs) {
      let length = 0;
      for (let one = headOf(series); one !== none && startOf(one) >= fromMs; one = before(one)) length++;
      const values = new Float64Array(length * barStride);
      let bucket = headOf(series);
      for (let index = length - 1; index >= 0; index--, bucket = before(bucket)) {
        const row = rowOf(bucket);
        values.set(blockOf(bucket).subarray(row, row + barStride), index * barStride);
      }
      return { values, count: length };
    },
  };
}
