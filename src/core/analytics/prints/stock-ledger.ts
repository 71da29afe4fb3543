import type { StockPrint } from '../../domain/market/print.ts';
import { compositionCategoryOf, stockTraitsOf } from '../../domain/market/stock-trade-conditions.ts';
import { createConditionSets } from './condition-sets.ts';
import { doubleRing } from './reorder.ts';

const firstLength = 4096;
/** Marks a print that is in no chain of namesakes. */
const unchained = -2;

/** The part of a record in its trade. */
export const recordRole = {
  /** The first record of a trade. */
  trade: 0,
  /** A correction, a cancel, or a record that one replaced. */
  further: 1,
  /** Repeats a record with its id. */
  repeat: 2,
  /** Equals a record of another file, where ids do not identify prints. */
  copy: 3,
} as const;

/** Columns of prints without a usable id, by slot. */
interface EqualColumns extends Record<string, Int32Array> {
  /** The print before it with the same hash of contents. */
  previous: Int32Array;
  /** Its number among the equal prints of its file, from 1; and the highest one so far of any file. */
  nth: Int32Array;
  most: Int32Array;
}

function firstColumns() {
  return {
    tsMs: new Float64Array(firstLength),
    tsNanos: new Int32Array(firstLength),
    sequence: new Float64Array(firstLength),
    /** 1e-4 dollars; a share can cost more than 32 bits hold. */
    price: new Float64Array(firstLength),
    size: new Float64Array(firstLength),
    sizeMicros: new Int32Array(firstLength),
    symbol: new Int32Array(firstLength),
    exchange: new Uint16Array(firstLength),
    trf: new Uint16Array(firstLength),
    id: new Float64Array(firstLength),
    conditionSet: new Uint16Array(firstLength),
    correction: new Uint8Array(firstLength),
    traits: new Uint8Array(firstLength),
    /** Index into `compositionCategories`. */
    category: new Uint8Array(firstLength),
    /** 1 = in the figures. */
    counted: new Uint8Array(firstLength),
    /** A `recordRole`. */
    role: new Uint8Array(firstLength),
    /** Number of the file, or of the run of a live tape, that has the print. */
    file: new Uint16Array(firstLength),
    /** The print of the symbol that came before it; −1 = none. */
    previousOfSymbol: new Int32Array(firstLength),
    previousInHash: new Int32Array(firstLength),
  };
}

/** Columns of the prints, by slot. */
export type StockColumns = ReturnType<typeof firstColumns>;

/**
 * The stock prints remembered, as columns by slot; an entry `n` is in slot `n & mask` while `n ≥ oldest`. It grows to
 * `remembered` prints; from then on the oldest is forgotten for every new one.
 */
export class StockLedger {
  readonly columns = firstColumns();
  mask = firstLength - 1;
  oldest = 0;
  next = 0;
  readonly #remembered: number;
  readonly #sets = createConditionSets();
  /** By symbol: its latest print. */
  readonly #heads: number[] = [];
  /** By hash of what namesakes share: the latest print. */
  #hashHeads = new Int32Array(firstLength).fill(-1);
  #equals: EqualColumns | null = null;
  #equalHeads = new Int32Array(0);

  constructor(remembered: number) {
    this.#remembered = remembered;
  }

  conditions(entry: number): readonly number[] {
    return this.#sets.at(this.columns.conditionSet[entry & this.mask]!);
  }

  /**
   * Copies a print in, not counted; its entry number. Forgets the oldest when full. `isNamed`: its id identifies it.
   */
  add(print: StockPrint, symbol: number, file: number, isNamed: boolean): number {
    this.#makeRoom();
    const { columns } = this;
    const entry = this.next++;
    const slot = entry & this.mask;
    columns.tsMs[slot] = print.tsMs;
    columns.tsNanos[slot] = print.tsNanos;
    columns.sequence[slot] = print.sequence;
    columns.price[slot] = print.price;
    columns.size[slot] = print.size;
    columns.sizeMicros[slot] = print.sizeMicros;
    columns.symbol[slot] = symbol;
    columns.exchange[slot] = print.exchange;
    columns.trf[slot] = print.trf;
    columns.id[slot] = print.id;
    columns.conditionSet[slot] = this.#sets.indexOf(print.conditions);
    columns.correction[slot] = print.correction;
    columns.traits[slot] = stockTraitsOf(print.conditions);
    columns.category[slot] = compositionCategoryOf(print.conditions);
    columns.counted[slot] = 0;
    columns.role[slot] = recordRole.trade;
    columns.file[slot] = file;
    columns.previousOfSymbol[slot] = this.#heads[symbol] ?? -1;
    this.#heads[symbol] = entry;
    if (isNamed) this.#chain(entry);
    else columns.previousInHash[slot] = unchained;
    return entry;
  }

  /** A print as it was added, of a symbol and tape. A correction that took another's position has that instant. */
  printAt(entry: number, of: Pick<StockPrint, 'symbol' | 'tape'>): StockPrint {
    const { columns } = this;
    const slot = entry & this.mask;
    return {
      ...of,
      exchange: columns.exchange[slot]!,
      trf: columns.trf[slot]!,
      id: columns.id[slot]!,
      price: columns.price[slot]!,
      size: columns.size[slot]!,
      sizeMicros: columns.sizeMicros[slot]!,
      conditions: this.conditions(entry),
      correction: columns.correction[slot]!,
      tsMs: columns.tsMs[slot]!,
      tsNanos: columns.tsNanos[slot]!,
      sequence: columns.sequence[slot]!,
    };
  }

  /** The entries that came before with the same symbol, exchange, facility and trade id, newest first. */
  namesakes(entry: number): number[] {
    const { id, symbol, exchange, trf, previousInHash } = this.columns;
    const slot = entry & this.mask;
    const found: number[] = [];
    for (let n = previousInHash[slot]!; n >= this.oldest; n = previousInHash[n & this.mask]!) {
      const other = n & this.mask;
      if (id[other] !== id[slot] || symbol[other] !== symbol[slot]) continue;
      if (exchange[other] === exchange[slot] && trf[other] === trf[slot]) found.push(n);
    }
    return found;
  }

  /**
   * Numbers a print among its equals of the same venue: time, price, size, conditions and correction code. True if
   * another file has it: at least as many equal prints as its own file has so far.
   */
  isCopy(entry: number): boolean {
    this.#equals ??= this.#emptyEquals();
    const { previous, nth, most } = this.#equals;
    const { mask, columns } = this;
    const slot = entry & mask;
    const bucket = this.#contentBucketOf(entry);
    let [before, highest] = [0, 0];
    for (let n = this.#equalHeads[bucket]!; n >= this.oldest; n = previous[n & mask]!) {
      if (!this.#areEqual(n & mask, slot)) continue;
      highest ||= most[n & mask]!;
      if (columns.file[n & mask] !== columns.file[slot]) continue;
      before = nth[n & mask]!;
      break;
    }
    nth[slot] = before + 1;
    most[slot] = Math.max(highest, before + 1);
    this.#chainEqual(entry);
    return before < highest;
  }

  #emptyEquals(): EqualColumns {
    const { length } = this.columns.tsMs;
    this.#equalHeads = new Int32Array(length).fill(-1);
    const [previous, nth, most] = [new Int32Array(length), new Int32Array(length), new Int32Array(length)];
    return { previous, nth, most };
  }

  #chainEqual(entry: number): void {
    const bucket = this.#contentBucketOf(entry);
    this.#equals!.previous[entry & this.mask] = this.#equalHeads[bucket]!;
    this.#equalHeads[bucket] = entry;
  }

  /** True if two prints, by slot, differ at most in id, sequence and file. */
  #areEqual(i: number, j: number): boolean {
    const { tsMs, tsNanos, price, size, sizeMicros, symbol, exchange, trf, conditionSet, correction } = this.columns;
    return (
      tsMs[i] === tsMs[j] &&
      tsNanos[i] === tsNanos[j] &&
      price[i] === price[j] &&
      size[i] === size[j] &&
      sizeMicros[i] === sizeMicros[j] &&
      symbol[i] === symbol[j] &&
      exchange[i] === exchange[j] &&
      trf[i] === trf[j] &&
      conditionSet[i] === conditionSet[j] &&
      correction[i] === correction[j]
    );
  }

  #contentBucketOf(entry: number): number {
    const { tsMs, tsNanos, price, size, symbol } = this.columns;
    const slot = entry & this.mask;
    let hash = Math.imul(tsMs[slot]! % 2 ** 31, 0x9e3779b1) ^ Math.imul(tsNanos[slot]!, 0x85ebca6b);
    hash ^= Math.imul((price[slot]! | 0) + Math.imul(size[slot]! | 0, 31) + symbol[slot]! * 65_537, 0xc2b2ae35);
    return (hash ^ (hash >>> 15)) & (this.#equalHeads.length - 1);
  }

  /** True if `a` comes before `b` in event time: instant, sequence, then exchange, facility and id. */
  before(a: number, b: number): boolean {
    const [i, j] = [a & this.mask, b & this.mask];
    const { tsMs, tsNanos, sequence, exchange, trf, id } = this.columns;
    return (
      (tsMs[i]! - tsMs[j]! ||
        tsNanos[i]! - tsNanos[j]! ||
        sequence[i]! - sequence[j]! ||
        exchange[i]! - exchange[j]! ||
        trf[i]! - trf[j]! ||
        id[i]! - id[j]!) < 0
    );
  }

  #makeRoom(): void {
    if (this.next - this.oldest <= this.mask) return;
    if (this.mask + 1 >= this.#remembered) {
      this.oldest++;
      return;
    }
    const { columns } = this;
    doubleRing(columns, this.oldest, this.next);
    this.mask = columns.tsMs.length - 1;
    this.#hashHeads = new Int32Array(columns.tsMs.length).fill(-1);
    for (let entry = this.oldest; entry < this.next; entry++)
      if (columns.previousInHash[entry & this.mask] !== unchained) this.#chain(entry);
    if (!this.#equals) return;
    doubleRing(this.#equals, this.oldest, this.next);
    this.#equalHeads = new Int32Array(columns.tsMs.length).fill(-1);
    // Prints with a usable id have no number.
    for (let entry = this.oldest; entry < this.next; entry++)
      if (this.#equals.nth[entry & this.mask] !== 0) this.#chainEqual(entry);
  }

  /** Puts an entry before those of the same hash. */
  #chain(entry: number): void {
    const bucket = this.#bucketOf(entry);
    this.columns.previousInHash[entry & this.mask] = this.#hashHeads[bucket]!;
    this.#hashHeads[bucket] = entry;
  }

  #bucketOf(entry: number): number {
    const { columns } = this;
    const slot = entry & this.mask;
    const id = columns.id[slot]!;
    let hash = Math.imul(id | 0, 0x9e3779b1) ^ Math.imul(Math.floor(id / 2 ** 32), 0x85ebca6b);
    hash ^= Math.imul(columns.symbol[slot]! * 256 + columns.trf[slot]! * 32 + columns.exchange[slot]!, 0xc2b2ae35);
    return (hash ^ (hash >>> 15)) & (this.#hashHeads.length - 1);
  }
}
