import { type OptionLedger, printState } from './option-ledger.ts';
import type { PrintLinks } from './print-links.ts';

/**
 * Finds the print that a cancel withdraws, if it arrives in event-time order: the most recent earlier valid print with
 * the same properties; −1 = none.
 */
export function mostRecent(ledger: OptionLedger, cancel: number): number {
  const { columns } = ledger;
  let n = columns.previousOfContract[cancel & ledger.mask]!;
  while (n >= ledger.oldest) {
    if (columns.state[n & ledger.mask] === printState.counted && sameTrade(ledger, n, cancel)) return n;
    n = columns.previousOfContract[n & ledger.mask]!;
  }
  return -1;
}

/**
 * Pairs the cancels of trades that look like `entry` with their originals (methodology 3: same contract, exchange,
 * price and size, the most recent first), and calls `turn` for the prints whose state changes. Called for a late
 * cancel, or a print of a contract with a cancel. Returns the change of the number of cancels without an original.
 */
export function pairCancels(
  ledger: OptionLedger,
  links: PrintLinks,
  entry: number,
  turn: (entry: number, state: number) => void,
): number {
  const { columns } = ledger;
  const { counted, cancelled, cancel, left } = printState;
  const alike: number[] = [];
  const head = links.contractHead(columns.contract[entry & ledger.mask]!);
  for (let n = head; n >= ledger.oldest; n = columns.previousOfContract[n & ledger.mask]!) {
    if (columns.state[n & ledger.mask] !== left && sameTrade(ledger, n, entry)) alike.push(n);
  }
  const standing: number[] = [];
  const taken = new Set<number>();
  let [cancels, takenBefore] = [0, 0];
  for (const n of alike.reverse()) {
    const state = columns.state[n & ledger.mask]!;
    if (state === cancelled) takenBefore++;
    if (state !== cancel) standing.push(n);
    else {
      cancels++;
      if (standing.length > 0) taken.add(standing.pop()!);
    }
  }
  for (const n of alike) {
    const state = columns.state[n & ledger.mask]!;
    if (state === counted && taken.has(n)) turn(n, cancelled);
    if (state === cancelled && !taken.has(n)) turn(n, counted);
  }
  const cancelsBefore = columns.state[entry & ledger.mask] === cancel ? cancels - 1 : cancels;
  return cancels - taken.size - (cancelsBefore - takenBefore);
}

function sameTrade({ columns, mask }: OptionLedger, a: number, b: number): boolean {
  const [i, j] = [a & mask, b & mask];
  const { exchange, price, size } = columns;
  return exchange[i] === exchange[j] && price[i] === price[j] && size[i] === size[j];
}
