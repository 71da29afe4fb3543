import type { StockPrint } from '../../domain/market/print.ts';
import { compositionCategoryOf, stockTraitsOf } from '../../domain/market/stock-trade-conditions.ts';
import { createConditionSets } from './condition-sets.ts';
import { doubleRing } from './ring.ts';

const firstLength = 4096;

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

  constructor(remembered: number) {
    this.#remembered = remembered;
  }

  conditions(entry: number): readonly number[] {
    return this.#sets.at(this.columns.conditionSet[entry & this.mask]!);
  }

  /** Copies a print in, not counted; its entry number. Forgets the oldest when full. */
  add(print: StockPrint, symbol: number): number {
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
    columns.previousOfSymbol[slot] = this.#heads[symbol] ?? -1;
    this.#heads[symbol] = entry;
    this.#chain(entry);
    return entry;
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
    for (let entry = this.oldest; entry < this.next; entry++) this.#chain(entry);
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
