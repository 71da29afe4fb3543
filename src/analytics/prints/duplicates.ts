import { tapeSettings } from '../methodology.ts';
import type { OptionLedger } from './option-ledger.ts';
import { createPrintLines } from './print-lines.ts';
import type { PrintLinks } from './print-links.ts';

/**
 * True if a print about to be linked repeats a linked one: the same contract, exchange and sequence (methodology 3).
 * Numbers ascend on a tape, so for nearly every print one comparison with the highest of its line suffices. A repeated
 * print has the instant of the first: prints of the contract well before it need not be checked, whatever their
 * numbers.
 */
export function createDuplicateCheck(ledger: OptionLedger, links: PrintLinks): (entry: number) => boolean {
  const lines = createPrintLines();
  const { columns } = ledger;
  return (entry) => {
    const slot = entry & ledger.mask;
    const { contract, exchange, sequence, tsMs } = columns;
    if (lines.ascends(contract[slot]!, exchange[slot]!, sequence[slot]!)) return false;
    const head = links.contractHead(contract[slot]!);
    for (let n = head; n >= ledger.oldest; n = columns.previousOfContract[n & ledger.mask]!) {
      const other = n & ledger.mask;
      if (sequence[other] === sequence[slot] && exchange[other] === exchange[slot]) return true;
      if (tsMs[other]! < tsMs[slot]! - tapeSettings.latenessMs) return false;
    }
    return false;
  };
}
