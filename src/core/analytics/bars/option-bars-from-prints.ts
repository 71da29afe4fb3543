import { minuteMs } from '../../../platform/runtime/clock.ts';
import type { TradedContract } from '../../domain/chain/contract-book.ts';
import { type BarColumns, unknownBars } from '../../domain/market/bar.ts';
import { type OptionColumns, type OptionLedger, printState } from '../prints/option-ledger.ts';
import type { PrintLinks } from '../prints/print-links.ts';
import { addToRow, type BarPrint, type BarRows, barStride, barsOfRows, clearRow, isOfBar } from './bar-rows.ts';

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

/**
 * The volume that a contract's bars lack, by minute: of late prints, and of minutes without a price. `minutes`: the
 * volume of all its prints. Both ascend. Only starts and volumes are known.
 */
export function volumeBesideBars(
  minutes: { readonly tsMs: readonly number[]; readonly volume: readonly number[] },
  bars: BarColumns,
): BarColumns {
  const found: [tsMs: number, volume: number][] = [];
  let bar = 0;
  for (let i = 0; i < minutes.tsMs.length; i++) {
    const tsMs = minutes.tsMs[i]!;
    while (bar < bars.tsMs.length && bars.tsMs[bar]! < tsMs) bar++;
    const volume = minutes.volume[i]! - (bars.tsMs[bar] === tsMs ? bars.volume[bar]! : 0);
    if (volume > 0) found.push([tsMs, volume]);
  }
  const rest = unknownBars(found.length);
  for (const [i, [tsMs, volume]] of found.entries()) [rest.tsMs[i], rest.volume[i]] = [tsMs, volume];
  return rest;
}

/** Bars of the option contracts that `followed` names, from their prints, over a ledger and its links. */
export class OptionBars {
  readonly #ledger: OptionLedger;
  readonly #columns: OptionColumns;
  readonly #links: PrintLinks;
  readonly #followed: (contract: TradedContract) => boolean;
  readonly #pool = new BarRowPool();
  // By contract index: answers of `followed`.
  readonly #isFollowed: (boolean | undefined)[] = [];
  // By contract index: the first minute that changed; ∞ = none did.
  #changedFrom = new Float64Array(256).fill(Infinity);
  // Indexes of the contracts with a changed minute, in the order in which they changed.
  #changed: number[] = [];
  readonly #print = { entry: 0, price: 0, size: 0, sizeMicros: 0, traits: 0 };
  // A print that is forgotten came before every one that is not.
  readonly #before = (a: number, b: number) => b >= this.#ledger.oldest && this.#ledger.before(a, b);

  constructor(ledger: OptionLedger, links: PrintLinks, followed: (contract: TradedContract) => boolean) {
    this.#ledger = ledger;
    this.#columns = ledger.columns;
    this.#links = links;
    this.#followed = followed;
  }

  /** Adds a counted print. */
  count(entry: number): void {
    const index = this.#columns.contract[entry & this.#ledger.mask]!;
    if (!this.#follows(index)) return;
    const startMs = this.#minuteOf(entry);
    this.#add(index, startMs, entry);
    this.#noteChange(index, startMs);
  }

  /** Makes the minute of a print again after it was taken back. */
  recount(entry: number): void {
    const { mask, oldest } = this.#ledger;
    const { contract, tsMs, state, previousOfContract } = this.#columns;
    const index = contract[entry & mask]!;
    if (!this.#follows(index)) return;
    const startMs = this.#minuteOf(entry);
    this.#pool.empty(index, startMs);
    for (let n = this.#links.contractHead(index); n >= oldest; n = previousOfContract[n & mask]!) {
      const printMs = tsMs[n & mask]!;
      if (printMs < startMs) break;
      if (printMs < startMs + minuteMs && state[n & mask] === printState.counted) this.#add(index, startMs, n);
    }
    this.#noteChange(index, startMs);
  }

  /**
   * The minutes so far that start at or after `fromMs`, ascending; empty for a contract that is not followed or has not
   * traded. Longer bars are folded from them.
   */
  minutes({ index }: TradedContract, fromMs = -Infinity): BarColumns {
    return barsOfRows(this.#pool.rows(index, fromMs), fromMs, true);
  }

  /**
   * Contracts whose bars changed since the last call, with the first changed minute; at most `most`, those that have
   * waited longest.
   */
  takeChanged(most = Infinity): { contract: TradedContract; fromMs: number }[] {
    const taken = this.#changed.slice(0, most).map((index) => {
      const fromMs = this.#changedFrom[index]!;
      this.#changedFrom[index] = Infinity;
      return { contract: this.#ledger.contracts[index]!, fromMs };
    });
    this.#changed = this.#changed.slice(taken.length);
    return taken;
  }

  /** The first minute that changed and was not taken; null = all was. */
  changedFromMs(): number | null {
    const firstMs = this.#changed.reduce((first, index) => Math.min(first, this.#changedFrom[index]!), Infinity);
    return firstMs === Infinity ? null : firstMs;
  }

  /** Takes what changed before a minute. */
  takeBefore(fromMs: number): void {
    for (const index of this.#changed) this.#changedFrom[index] = Math.max(this.#changedFrom[index]!, fromMs);
  }

  #minuteOf(entry: number): number {
    const tsMs = this.#columns.tsMs[entry & this.#ledger.mask]!;
    return tsMs - (tsMs % minuteMs);
  }

  #follows(index: number): boolean {
    const known = this.#isFollowed[index];
    if (known !== undefined) return known;
    const isFollowed = this.#followed(this.#ledger.contracts[index]!);
    this.#isFollowed[index] = isFollowed;
    return isFollowed;
  }

  #add(index: number, startMs: number, entry: number): void {
    const columns = this.#columns;
    const print = this.#print;
    const slot = entry & this.#ledger.mask;
    print.entry = entry;
    print.price = columns.price[slot]!;
    print.size = columns.size[slot]!;
    print.traits = columns.traits[slot]!;
    this.#pool.add(index, startMs, print, this.#before);
  }

  #noteChange(index: number, startMs: number): void {
    if (index >= this.#changedFrom.length) {
      const longer = new Float64Array(Math.max(2 * this.#changedFrom.length, index + 1)).fill(Infinity);
      longer.set(this.#changedFrom);
      this.#changedFrom = longer;
    }
    const known = this.#changedFrom[index]!;
    if (known === Infinity) this.#changed.push(index);
    if (startMs < known) this.#changedFrom[index] = startMs;
  }
}
