import { optionTraits } from '../../domain/flow/option-trade-conditions.ts';
import { nanosBetween, type OptionQuote } from '../../domain/market/print.ts';
import { type OptionLedger, printState } from '../prints/option-ledger.ts';
import type { PrintLinks } from '../prints/print-links.ts';
import type { QuoteBook } from '../prints/quote-book.ts';
import type { ContractMinuteSums } from './contract-minutes.ts';
import type { Detector } from './detector.ts';

/**
 * Corrects the side of prints whose quote arrived late (it is in the book already), and re-forms the affected events
 * and sums.
 * Exact as far back as the book remembers quotes.
 */
export function sidesAnew(
  ledger: OptionLedger,
  links: PrintLinks,
  quotes: QuoteBook,
  detector: Detector,
  minutes: ContractMinuteSums,
): (quote: OptionQuote) => void {
  const { columns } = ledger;

  function give(entry: number, side: number) {
    const slot = entry & ledger.mask;
    if (columns.state[slot] !== printState.counted) {
      columns.side[slot] = side;
      return;
    }
    const contract = ledger.contracts[columns.contract[slot]!]!;
    minutes.changeSide(contract, columns.tsMs[slot]!, columns.size[slot]!, columns.side[slot]!, side);
    // Moves it from its group to that of its new side.
    detector.revise(entry, () => {
      columns.state[slot] = printState.left;
    });
    columns.side[slot] = side;
    detector.revise(entry, () => {
      columns.state[slot] = printState.counted;
    });
  }

  /** The prints of the quote's contract at its instant and later, in order. */
  function printsAfter({ contract, tsMs, tsNanos }: OptionQuote): number[] {
    const after: number[] = [];
    let n = links.contractHead(contract.index);
    while (n >= ledger.oldest) {
      const slot = n & ledger.mask;
      if (nanosBetween(tsMs, tsNanos, columns.tsMs[slot]!, columns.tsNanos[slot]!) < 0) break;
      after.push(n);
      n = columns.previousOfContract[slot]!;
    }
    return after.reverse();
  }

  return (quote) => {
    quotes.release(quote.tsMs, quote.tsNanos);
    for (const entry of printsAfter(quote)) {
      const slot = entry & ledger.mask;
      if ((columns.traits[slot]! & optionTraits.sideless) !== 0) continue;
      const side = quotes.sideAt(quote.contract, columns.price[slot]!, columns.tsMs[slot]!, columns.tsNanos[slot]!);
      if (side !== columns.side[slot]) give(entry, side);
    }
  };
}
