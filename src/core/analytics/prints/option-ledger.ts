import type { TradedContract } from '../../domain/chain/contract-book.ts';
import { optionTraitsOf } from '../../domain/flow/option-trade-conditions.ts';
import type { OptionPrint } from '../../domain/market/print.ts';
import { createConditionSets } from './condition-sets.ts';
import { doubleRing } from './reorder.ts';

/** States of a print. */
export const printState = {
  /** Waits to be taken in event-time order. */
  waiting: 0,
  /** Part of every figure. */
  counted: 1,
  /** Withdrawn by a cancel. */
  cancelled: 2,
  /** Is itself a cancel. */
  cancel: 3,
  /** In no figure: a compression trade, a record withdrawn by the tape, a duplicate. */
  left: 4,
} as const;

const firstLength = 512;

function firstColumns() {
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
    /** Number of the run of a live tape that has it, and of the last run that has an equal print. */
    run: new Uint16Array(firstLength),
    equalRun: new Uint16Array(firstLength),
    /**
     * The print before it in event time, of its contract; of its underlying and exchange among multi-leg prints. −1 =
     * none.
     */
    previousOfContract: new Int32Array(firstLength),
    previousOfBook: new Int32Array(firstLength),
  };
}

/** Columns of the prints, by slot. */
export type OptionColumns = ReturnType<typeof firstColumns>;

/** Copies all of an entry. Each column is named: one place in the code that meets all their types is slower. */
function copyEntry(columns: OptionColumns, from: number, to: number): void {
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
  columns.run[to] = columns.run[from]!;
  columns.equalRun[to] = columns.equalRun[from]!;
  columns.previousOfContract[to] = columns.previousOfContract[from]!;
  columns.previousOfBook[to] = columns.previousOfBook[from]!;
}

/**
 * The prints remembered, as columns by slot; an entry `n` is in slot `n & mask` while `n ≥ oldest`. It grows to
 * `remembered` prints, and beyond only while `mayForget` keeps the oldest: then the oldest is forgotten for every new
 * one.
 */
export class OptionLedger {
  readonly columns = firstColumns();
  mask = firstLength - 1;
  /** The oldest entry still remembered, and the one to come. */
  oldest = 0;
  next = 0;
  /** By contract index. */
  readonly contracts: TradedContract[] = [];
  readonly #remembered: number;
  readonly #mayForget: (entry: number) => boolean;
  readonly #sets = createConditionSets();

  constructor(remembered: number, mayForget: (entry: number) => boolean) {
    this.#remembered = remembered;
    this.#mayForget = mayForget;
  }

  conditions(entry: number): readonly number[] {
    return this.#sets.at(this.columns.conditionSet[entry & this.mask]!);
  }

  /** Copies a print in, waiting; its entry number. `mayForget(entry)` is asked before the oldest is forgotten. */
  add(print: OptionPrint, run = 0): number {
    this.#makeRoom();
    const { columns } = this;
    const entry = this.next++;
    const slot = entry & this.mask;
    const { index } = print.contract;
    this.contracts[index] = print.contract;
    columns.tsMs[slot] = print.tsMs;
    columns.tsNanos[slot] = print.tsNanos;
    columns.sequence[slot] = print.sequence;
    columns.contract[slot] = index;
    columns.price[slot] = print.price;
    columns.size[slot] = print.size;
    columns.exchange[slot] = print.exchange;
    columns.conditionSet[slot] = this.#sets.indexOf(print.conditions);
    columns.traits[slot] = optionTraitsOf(print.conditions);
    columns.side[slot] = 0;
    columns.state[slot] = printState.waiting;
    columns.run[slot] = columns.equalRun[slot] = run;
    columns.previousOfContract[slot] = -1;
    columns.previousOfBook[slot] = -1;
    return entry;
  }

  /** Forgets the entries from `from` on but some, ascending; these are numbered again from `from` on. */
  retain(from: number, staying: readonly number[]): void {
    const { columns, mask } = this;
    this.next = from + staying.length;
    for (let i = 0; i < staying.length; i++) copyEntry(columns, staying[i]! & mask, (from + i) & mask);
  }

  /**
   * True if `a` comes before `b` in event time: instant, then sequence, then contract and exchange, so that no two are
   * equal but duplicates.
   */
  before(a: number, b: number): boolean {
    const { columns, contracts } = this;
    const i = a & this.mask;
    const j = b & this.mask;
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

  #makeRoom(): void {
    if (this.next - this.oldest <= this.mask) return;
    if (this.mask + 1 >= this.#remembered && this.#mayForget(this.oldest)) {
      this.oldest++;
      return;
    }
    doubleRing(this.columns, this.oldest, this.next);
    this.mask = this.columns.tsMs.length - 1;
  }
}
