import { optionTraits } from '../../domain/flow/option-trade-conditions.ts';
import type { OptionColumns, OptionLedger } from './option-ledger.ts';

/** The remembered prints of every contract, and the multi-leg prints of every (underlying, exchange), newest first. */
export class PrintLinks {
  readonly #ledger: OptionLedger;
  readonly #columns: OptionColumns;
  #contractHeads = new Int32Array(256).fill(-1);
  readonly #bookHeads: number[] = [];
  readonly #books = new Map<number, number>();

  /** Links over a ledger's columns. */
  constructor(ledger: OptionLedger) {
    this.#ledger = ledger;
    this.#columns = ledger.columns;
  }

  /** Inserts an entry at its position in event time. */
  link(entry: number): void {
    const columns = this.#columns;
    const slot = entry & this.#ledger.mask;
    const contract = columns.contract[slot]!;
    if (contract >= this.#contractHeads.length) {
      const longer = new Int32Array(Math.max(2 * this.#contractHeads.length, contract + 1)).fill(-1);
      longer.set(this.#contractHeads);
      this.#contractHeads = longer;
    }
    this.#contractHeads[contract] = this.#insert(entry, this.#contractHeads[contract]!, columns.previousOfContract);
    if ((columns.traits[slot]! & optionTraits.multiLeg) === 0) return;
    const book = this.bookOf(entry);
    this.#bookHeads[book] = this.#insert(entry, this.#bookHeads[book]!, columns.previousOfBook);
  }

  /** The newest entry of a contract, by its index; below `ledger.oldest` when there is none. */
  contractHead(contract: number): number {
    return contract < this.#contractHeads.length ? this.#contractHeads[contract]! : -1;
  }

  /** The newest multi-leg entry of a book. */
  bookHead(book: number): number {
    return this.#bookHeads[book]!;
  }

  /** The number of the book of a multi-leg print. */
  bookOf(entry: number): number {
    const slot = entry & this.#ledger.mask;
    const { underlying } = this.#ledger.contracts[this.#columns.contract[slot]!]!;
    const key = underlying.index * 65_536 + this.#columns.exchange[slot]!;
    let book = this.#books.get(key);
    if (book === undefined) {
      book = this.#bookHeads.length;
      this.#bookHeads.push(-1);
      this.#books.set(key, book);
    }
    return book;
  }

  /** Links into the list that begins at `head`, where `previous` leads from entry to entry; the new head. */
  #insert(entry: number, head: number, previous: Int32Array): number {
    const ledger = this.#ledger;
    if (head < ledger.oldest || !ledger.before(entry, head)) {
      previous[entry & ledger.mask] = head;
      return entry;
    }
    let later = head;
    let earlier = previous[later & ledger.mask]!;
    while (earlier >= ledger.oldest && ledger.before(entry, earlier)) {
      later = earlier;
      earlier = previous[earlier & ledger.mask]!;
    }
    previous[later & ledger.mask] = entry;
    previous[entry & ledger.mask] = earlier;
    return head;
  }
}
