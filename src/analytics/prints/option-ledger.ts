import type { TradedContract } from '../../domain/chain/contract-book.ts';
import { optionTraitsOf } from '../../domain/flow/option-trade-conditions.ts';
import type { OptionPrint } from '../../domain/market/print.ts';
import { createConditionSets } from './condition-sets.ts';
import { doubleRing } from './ring.ts';

/** States of a print. */
export const printState = {
  /** Waits to be taken in event-time order. */
  waiting: 0,
  /** Part of every figure. */
  counted: 1,
  /** Taken back by a cancel. */
  cancelled: 2,
  /** Is itself a cancel. */
  cancel: 3,
  /** In no figure: a compression trade, a record the tape withdrew, a duplicate. */
  left: 4,
} as const;

/** The prints remembered, as columns by slot; an entry `n` lies in slot `n & mask` while `n ≥ oldest`. */
export interface OptionLedger {
  columns: {
    tsMs: Float64Array;
    tsNanos: Int32Array;
    sequence: Float64Array;
    contract: Int32Array;
    price: Uint32Array;
    size: Int32Array;
    exchange: Uint16Array;
    conditionSet: Uint16Array;
    traits: Uint8Array;
    side: Uint8Array;
    state: Uint8Array;
    /**
     * The print before it in event time, of its contract; of its underlying and exchange among multi-leg prints. −1 =
     * none.
     */
    previousOfContract: Int32Array;
    previousOfBook: Int32Array;
  };
  mask: number;
  /** The oldest entry still remembered, and the one to come. */
  oldest: number;
  next: number;
  /** By contract index. */
  contracts: TradedContract[];
  conditions(entry: number): readonly number[];
  /** Copies a print in, waiting; its entry number. `mayForget(entry)` is asked before the oldest is forgotten. */
  add(print: OptionPrint): number;
  /** Forgets the entries from `from` on but some, ascending; these are numbered again from `from` on. */
  retain(from: number, staying: readonly number[]): void;
  /**
   * True if `a` comes before `b` in event time: instant, then sequence, then contract and exchange, so that no two are
   * equal but duplicates.
   */
  before(a: number, b: number): boolean;
}

const firstLength = 512;

function firstColumns(): OptionLedger['columns'] {
  return {
    tsMs: new Float64Array(firstLength),
    tsNanos: new Int32Array(firstLength),
    sequence: new Float64Array(firstLength),
    contract: new Int32Array(firstLength),
    price: new Uint32Array(firstLength),
    size: new Int32Array(firstLength),
    exchange: new Uint16Array(firstLength),
    conditionSet: new Uint16Array(firstLength),
    traits: new Uint8Array(firstLength),
    side: new Uint8Array(firstLength),
    state: new Uint8Array(firstLength),
    previousOfContract: new Int32Array(firstLength),
    previousOfBook: new Int32Array(firstLength),
  };
}

/** Copies all of an entry. Each column is named: one place in the code that meets all their types is slower. */
function copyEntry(columns: OptionLedger['columns'], from: number, to: number): void {
  columns.tsMs[to] = columns.tsMs[from]!;
  columns.tsNanos[to] = columns.tsNanos[from]!;
  columns.sequence[to] = columns.sequence[from]!;
  columns.contract[to] = columns.contract[from]!;
  columns.price[to] = columns.price[from]!;
  columns.size[to] = columns.size[from]!;
  columns.exchange[to] = columns.exchange[from]!;
  columns.conditionSet[to] = columns.conditionSet[from]!;
  columns.traits[to] = columns.traits[from]!;
  columns.side[to] = columns.side[from]!;
  columns.state[to] = columns.state[from]!;
  columns.previousOfContract[to] = columns.previousOfContract[from]!;
  columns.previousOfBook[to] = columns.previousOfBook[from]!;
}

/**
 * A ledger of at least `remembered` prints. It grows to that, and beyond only while `mayForget` keeps the oldest: then
 * the oldest is forgotten for every new one.
 */
export function createOptionLedger(remembered: number, mayForget: (entry: number) => boolean): OptionLedger {
  const sets = createConditionSets();
  const columns = firstColumns();
  const contracts: TradedContract[] = [];

  function makeRoom() {
    if (ledger.next - ledger.oldest <= ledger.mask) return;
    if (ledger.mask + 1 >= remembered && mayForget(ledger.oldest)) {
      ledger.oldest++;
      return;
    }
    doubleRing(columns, ledger.oldest, ledger.next);
    ledger.mask = columns.tsMs.length - 1;
  }

  function before(a: number, b: number): boolean {
    const i = a & ledger.mask;
    const j = b & ledger.mask;
    const ms = columns.tsMs[i]! - columns.tsMs[j]!;
    if (ms !== 0) return ms < 0;
    const nanos = columns.tsNanos[i]! - columns.tsNanos[j]!;
    if (nanos !== 0) return nanos < 0;
    const sequence = columns.sequence[i]! - columns.sequence[j]!;
    if (sequence !== 0) return sequence < 0;
    if (columns.contract[i] !== columns.contract[j]) {
      // Indices depend on the order of arrival, ids do not.
      return contracts[columns.contract[i]!]!.id < contracts[columns.contract[j]!]!.id;
    }
    return columns.exchange[i]! < columns.exchange[j]!;
  }

  const ledger: OptionLedger = {
    columns,
    mask: firstLength - 1,
    oldest: 0,
    next: 0,
    contracts,
    conditions: (entry) => sets.at(columns.conditionSet[entry & ledger.mask]!),
    add(print) {
      makeRoom();
      const entry = ledger.next++;
      const slot = entry & ledger.mask;
      const { index } = print.contract;
      contracts[index] = print.contract;
      columns.tsMs[slot] = print.tsMs;
      columns.tsNanos[slot] = print.tsNanos;
      columns.sequence[slot] = print.sequence;
      columns.contract[slot] = index;
      columns.price[slot] = print.price;
      columns.size[slot] = print.size;
      columns.exchange[slot] = print.exchange;
      columns.conditionSet[slot] = sets.indexOf(print.conditions);
      columns.traits[slot] = optionTraitsOf(print.conditions);
      columns.side[slot] = 0;
      columns.state[slot] = printState.waiting;
      columns.previousOfContract[slot] = -1;
      columns.previousOfBook[slot] = -1;
      return entry;
    },
    retain(from, staying) {
      ledger.next = from + staying.length;
      for (let i = 0; i < staying.length; i++) copyEntry(columns, staying[i]! & ledger.mask, (from + i) & ledger.mask);
    },
    before,
  };
  return ledger;
}
