import type { StockPrint } from '../../domain/market/print.ts';
import { compositionCategoryOf, stockTraitsOf } from '../../domain/market/stock-trade-conditions.ts';
import { createConditionSets } from './condition-sets.ts';
import { doubleRing } from './ring.ts';

/** The stock prints remembered, as columns by slot; an entry `n` lies in slot `n & mask` while `n ≥ oldest`. */
export interface StockLedger {
  columns: {
    tsMs: Float64Array;
    tsNanos: Int32Array;
    sequence: Float64Array;
    /** 1e-4 dollars; a share can cost more than 32 bits hold. */
    price: Float64Array;
    size: Float64Array;
    sizeMicros: Int32Array;
    symbol: Int32Array;
    exchange: Uint16Array;
    trf: Uint16Array;
    id: Float64Array;
    conditionSet: Uint16Array;
    correction: Uint8Array;
    traits: Uint8Array;
    /** Index into `compositionCategories`. */
    category: Uint8Array;
    /** 1 = in the figures. */
    counted: Uint8Array;
    /** The print of the symbol that came before it; −1 = none. */
    previousOfSymbol: Int32Array;
    previousInHash: Int32Array;
  };
  mask: number;
  oldest: number;
  next: number;
  conditions(entry: number): readonly number[];
  /** Copies a print in, not counted; its entry number. Forgets the oldest when full. */
  add(print: StockPrint, symbol: number): number;
  /** The entries that came before with the same symbol, exchange, facility and trade id, newest first. */
  namesakes(entry: number): number[];
  /** True if `a` comes before `b` in event time: instant, sequence, then exchange, facility and id. */
  before(a: number, b: number): boolean;
}

const firstLength = 4096;

function firstColumns(): StockLedger['columns'] {
  return {
    tsMs: new Float64Array(firstLength),
    tsNanos: new Int32Array(firstLength),
    sequence: new Float64Array(firstLength),
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
    category: new Uint8Array(firstLength),
    counted: new Uint8Array(firstLength),
    previousOfSymbol: new Int32Array(firstLength),
    previousInHash: new Int32Array(firstLength),
  };
}

/** A ledger that grows to `remembered` prints; from then on the oldest is forgotten for every new one. */
export function createStockLedger(remembered: number): StockLedger {
  const sets = createConditionSets();
  const columns = firstColumns();
  const heads: number[] = [];
  let hashHeads = new Int32Array(firstLength).fill(-1);

  function bucketOf(entry: number): number {
    const slot = entry & ledger.mask;
    const id = columns.id[slot]!;
    let hash = Math.imul(id | 0, 0x9e3779b1) ^ Math.imul(Math.floor(id / 2 ** 32), 0x85ebca6b);
    hash ^= Math.imul(columns.symbol[slot]! * 256 + columns.trf[slot]! * 32 + columns.exchange[slot]!, 0xc2b2ae35);
    return (hash ^ (hash >>> 15)) & (hashHeads.length - 1);
  }

  function chain(entry: number) {
    const bucket = bucketOf(entry);
    columns.previousInHash[entry & ledger.mask] = hashHeads[bucket]!;
    hashHeads[bucket] = entry;
  }

  function makeRoom() {
    if (ledger.next - ledger.oldest <= ledger.mask) return;
    if (ledger.mask + 1 >= remembered) {
      ledger.oldest++;
      return;
    }
    doubleRing(columns, ledger.oldest, ledger.next);
    ledger.mask = columns.tsMs.length - 1;
    hashHeads = new Int32Array(columns.tsMs.length).fill(-1);
    for (let entry = ledger.oldest; entry < ledger.next; entry++) chain(entry);
  }

  const ledger: StockLedger = {
    columns,
    mask: firstLength - 1,
    oldest: 0,
    next: 0,
    conditions: (entry) => sets.at(columns.conditionSet[entry & ledger.mask]!),
    add(print, symbol) {
      makeRoom();
      const entry = ledger.next++;
      const slot = entry & ledger.mask;
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
      columns.conditionSet[slot] = sets.indexOf(print.conditions);
      columns.correction[slot] = print.correction;
      columns.traits[slot] = stockTraitsOf(print.conditions);
      columns.category[slot] = compositionCategoryOf(print.conditions);
      columns.counted[slot] = 0;
      columns.previousOfSymbol[slot] = heads[symbol] ?? -1;
      heads[symbol] = entry;
      chain(entry);
      return entry;
    },
    namesakes(entry) {
      const slot = entry & ledger.mask;
      const found: number[] = [];
      for (let n = columns.previousInHash[slot]!; n >= ledger.oldest; n = columns.previousInHash[n & ledger.mask]!) {
        const other = n & ledger.mask;
        const { id, symbol, exchange, trf } = columns;
        if (id[other] !== id[slot] || symbol[other] !== symbol[slot]) continue;
        if (exchange[other] === exchange[slot] && trf[other] === trf[slot]) found.push(n);
      }
      return found;
    },
    before(a, b) {
      const [i, j] = [a & ledger.mask, b & ledger.mask];
      const { tsMs, tsNanos, sequence, exchange, trf, id } = columns;
      return (
        (tsMs[i]! - tsMs[j]! ||
          tsNanos[i]! - tsNanos[j]! ||
          sequence[i]! - sequence[j]! ||
          exchange[i]! - exchange[j]! ||
          trf[i]! - trf[j]! ||
          id[i]! - id[j]!) < 0
      );
    },
  };
  return ledger;
}
