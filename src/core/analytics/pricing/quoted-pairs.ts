import type { ChainRow } from '../../domain/chain/chain.ts';
import { methodologySettings } from '../methodology.ts';
import type { ChainGroup } from './chain-groups.ts';
import { quoteMid } from './mark.ts';

/** A strike whose call and put both have a two-sided quote that is not crossed. Dollars per share. */
export interface QuotedPair {
  strike: number;
  callMid: number;
  putMid: number;
  /** Uncertainty of C − P: half of ask − bid, of the call and of the put together. */
  halfSpread: number;
}

/** The median; NaN without any numbers. */
export function median(values: readonly number[]): number {
  if (values.length === 0) return Number.NaN;
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : 0.5 * (sorted[middle - 1]! + sorted[middle]!);
}

/** The pairs nearest to a price, nearest first; of two equally near ones the lower strike. */
export function nearestPairs(pairs: readonly QuotedPair[], price: number): QuotedPair[] {
  return pairs
    .toSorted((a, b) => Math.abs(a.strike - price) - Math.abs(b.strike - price) || a.strike - b.strike)
    .slice(0, methodologySettings.forwardStrikes);
}

/** Forward of a pair by European put–call parity, dollars: K + (C − P)/discount, `discount` = e^{−rT}. */
export function pairForward({ strike, callMid, putMid }: QuotedPair, discount: number): number {
  return strike + (callMid - putMid) / discount;
}

function twoSidedMid({ bid, ask }: ChainRow): number | null {
  return bid !== null && bid > 0 ? quoteMid(bid, ask) : null;
}

/** The pairs of a group, ascending by strike; with `midOf` also those whose worthless side has no bid. */
export function quotedPairs(
  { strikes }: Pick<ChainGroup, 'strikes'>,
  rows: readonly ChainRow[],
  midOf: (row: ChainRow) => number | null = twoSidedMid,
): QuotedPair[] {
  const pairs: QuotedPair[] = [];
  for (const { dollars, call, put } of strikes) {
    const [callRow, putRow] = [rows[call], rows[put]];
    if (!callRow || !putRow) continue;
    const callMid = midOf(callRow);
    const putMid = midOf(putRow);
    if (callMid === null || putMid === null) continue;
    const halfSpread = 0.5 * (callRow.ask! - callRow.bid! + putRow.ask! - putRow.bid!);
    pairs.push({ strike: dollars, callMid, putMid, halfSpread });
  }
  return pairs;
}

/** True if there are enough pairs near the money. */
export const hasPairs = ({ pairs }: { pairs: readonly QuotedPair[] }) =>
  pairs.length >= methodologySettings.fewestPairs;

/** Uncertainty of C − P at the money, dollars. */
export const halfSpreadOf = ({ pairs }: { pairs: readonly QuotedPair[] }) =>
  median(pairs.map(({ halfSpread }) => halfSpread));
