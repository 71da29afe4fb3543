import { correctedTrade, correctionMessage, isWithdrawn, isWithdrawnTrade } from '../../domain/market/print.ts';
import { type OptionLedger, printState } from './option-ledger.ts';
import type { PrintLinks } from './print-links.ts';
import type { StockLedger } from './stock-ledger.ts';

/**
 * Which of a trade's records stands, and the record whose position in time it has; null = none stands. It depends on
 * the records alone, not on the order in which they came:
 *
 * - any record that says error or cancel: none stands;
 * - a record of the corrected trade (code 1) holds the right data, the newest of several; it stands;
 * - a correction message (code 12) repeats the wrong data, so that with it alone the original falls; one with other
 *   data than the original's replaces it, at the original's instant;
 * - else the trade itself.
 *
 * `saidBefore` orders records by their own instants: a record that was moved to another's position no longer has its
 * own.
 */
export function standingRecord(
  ledger: StockLedger,
  records: readonly number[],
  saidBefore: (a: number, b: number) => boolean,
): { entry: number; positionOf: number } | null {
  const codeOf = (entry: number) => ledger.columns.correction[entry & ledger.mask]!;
  if (records.some((entry) => isWithdrawn(codeOf(entry)))) return null;
  const ordered = [...records].sort((a, b) => (saidBefore(a, b) ? -1 : saidBefore(b, a) ? 1 : 0));
  const corrected = ordered.filter((entry) => codeOf(entry) === correctedTrade).at(-1);
  if (corrected !== undefined) return { entry: corrected, positionOf: corrected };
  const message = ordered.filter((entry) => codeOf(entry) === correctionMessage).at(-1);
  const original = ordered.find((entry) => codeOf(entry) !== correctionMessage);
  if (original === undefined) return null;
  if (message === undefined) return { entry: original, positionOf: original };
  return sameData(ledger, original, message) ? null : { entry: message, positionOf: original };
}

function sameData({ columns, mask }: StockLedger, a: number, b: number): boolean {
  const [i, j] = [a & mask, b & mask];
  const { price, size, sizeMicros } = columns;
  return price[i] === price[j] && size[i] === size[j] && sizeMicros[i] === sizeMicros[j];
}

/** True if a record repeats an earlier one with its id: the same trade, or the same message about it. */
export function isRepeated({ columns, mask }: StockLedger, entry: number, records: readonly number[]): boolean {
  const slot = entry & mask;
  return records.some((record) => {
    const other = record & mask;
    const { correction, tsMs, tsNanos, sequence } = columns;
    if (correction[other] !== correction[slot]) return false;
    // A second print of one id that differs would have shown that ids collide.
    if (correction[slot] === 0) return true;
    return tsMs[other] === tsMs[slot] && tsNanos[other] === tsNanos[slot] && sequence[other] === sequence[slot];
  });
}

/**
 * True if a print shows that ids collide at its venue: another one with its id differs in time, price or size, and
 * neither is a correction.
 */
export function collides(ledger: StockLedger, entry: number, namesakes: readonly number[]): boolean {
  const { columns, mask } = ledger;
  const slot = entry & mask;
  if (columns.correction[slot] !== 0) return false;
  return namesakes.some((namesake) => {
    const other = namesake & mask;
    if (columns.correction[other] !== 0) return false;
    const isAt = columns.tsMs[other] === columns.tsMs[slot] && columns.tsNanos[other] === columns.tsNanos[slot];
    return !isAt || !sameData(ledger, entry, namesake);
  });
}

/** True if a record without a usable id may withdraw a print: one of its venue, price and size, and not a later one. */
export function mayWithdraw(ledger: StockLedger, record: number, print: number): boolean {
  const { columns, mask } = ledger;
  const [i, j] = [record & mask, print & mask];
  if (!sameVenue(ledger, record, print) || !sameData(ledger, record, print)) return false;
  const nanos = columns.tsNanos[i]! - columns.tsNanos[j]!;
  const afterMs = columns.tsMs[i]! - columns.tsMs[j]! || nanos;
  // A withdrawn trade has its own time, a message about it a later one.
  return isWithdrawnTrade(columns.correction[i]!) ? afterMs === 0 : afterMs >= 0;
}

/** True if two records are of one exchange and facility. */
export function sameVenue({ columns, mask }: StockLedger, a: number, b: number): boolean {
  const [i, j] = [a & mask, b & mask];
  return columns.exchange[i] === columns.exchange[j] && columns.trf[i] === columns.trf[j];
}

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
