import { correctedTrade, correctionMessage, isWithdrawn } from '../../domain/market/print.ts';
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

/** True if a record repeats an earlier one: same code and same position in event time. */
export function isRepeated({ columns, mask }: StockLedger, entry: number, records: readonly number[]): boolean {
  const slot = entry & mask;
  return records.some((record) => {
    const other = record & mask;
    const { correction, tsMs, tsNanos, sequence } = columns;
    return (
      correction[other] === correction[slot] &&
      tsMs[other] === tsMs[slot] &&
      tsNanos[other] === tsNanos[slot] &&
      sequence[other] === sequence[slot]
    );
  });
}
