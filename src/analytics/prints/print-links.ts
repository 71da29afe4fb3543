import { optionTraits } from '../../domain/flow/option-trade-conditions.ts';
import type { OptionLedger } from './option-ledger.ts';

/** The remembered prints of every contract, and the multi-leg prints of every (underlying, exchange), newest first. */
export interface PrintLinks {
  /** Inserts an entry at its position in event time. */
  link(entry: number): void;
  /** The newest entry of a contract, by its index; below `ledger.oldest` when there is none. */
  contractHead(contract: number): number;
  /** The newest multi-leg entry of a book. */
  bookHead(book: number): number;
  /** The number of the book of a multi-leg print. */
  bookOf(entry: number): number;
}

/** Links over a ledger's columns. */
export function createPrintLinks(ledger: OptionLedger): PrintLinks {
  const { columns } = ledger;
  let contractHeads = new Int32Array(256).fill(-1);
  const bookHeads: number[] = [];
  const books = new Map<number, number>();

  function bookOf(entry: number): number {
    const slot = entry & ledger.mask;
    const key = ledger.contracts[columns.contract[slot]!]!.underlying.index * 65_536 + columns.exchange[slot]!;
    let book = books.get(key);
    if (book === undefined) {
      book = bookHeads.length;
      bookHeads.push(-1);
      books.set(key, book);
    }
    return book;
  }

  /**
   * Links into the list that begins at `head`; the new head. The column is looked up again: it moves when the ledger
   * grows.
   */
  function insert(entry: number, head: number, column: 'previousOfContract' | 'previousOfBook'): number {
    const previous = columns[column];
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

  return {
    link(entry) {
      const contract = columns.contract[entry & ledger.mask]!;
      if (contract >= contractHeads.length) {
        const longer = new Int32Array(Math.max(2 * contractHeads.length, contract + 1)).fill(-1);
        longer.set(contractHeads);
        contractHeads = longer;
      }
      contractHeads[contract] = insert(entry, contractHeads[contract]!, 'previousOfContract');
      if ((columns.traits[entry & ledger.mask]! & optionTraits.multiLeg) === 0) return;
      const book = bookOf(entry);
      bookHeads[book] = insert(entry, bookHeads[book]!, 'previousOfBook');
    },
    contractHead: (contract) => (contract < contractHeads.length ? contractHeads[contract]! : -1),
    bookHead: (book) => bookHeads[book]!,
    bookOf,
  };
}
