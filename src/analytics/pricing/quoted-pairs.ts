import type { ChainRow } from '../../domain/chain/chain.ts';
import { methodologySettings } from '../methodology.ts';
import type { ChainGroup } from './chain-groups.ts';
import { quoteMid } from './mark.ts';

/** A strike whose call and put both have a two-sided quote that is not crossed. Dollars a share. */
export interface QuotedPair {
  strike: number;
  callMid: number;
  putMid: number;
  /** By how much C − P may be off its mid: half of ask − bid, of the call and of the put together. */
  halfSpread: number;
}

/** The middle of some numbers; NaN without any. */
export function median(values: readonly number[]): number {
  if (values.length === 0) return Number.NaN;
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : 0.5 * (sorted[middle - 1]! + sorted[middle]!);
}

/** The pairs nearest to a price, nearest first; of two as near the lower strike. */
export function nearestPairs(pairs: readonly QuotedPair[], price: number): QuotedPair[] {
  return pairs
    .toSorted((a, b) => Math.abs(a.strike - price) - Math.abs(b.strike - price) || a.strike - b.strike)
    .slice(0, methodologySettings.forwardStrikes);
}

/** What European put–call parity makes of a pair, dollars: K + (C − P)/discount, `discount` = e^{−rT}. */
export function pairForward({ strike, callMid, putMid }: QuotedPair, discount: number): number {
  return strike + (callMid - putMid) / discount;
}

function twoSidedMid({ bid, ask }: ChainRow): number | null {
  return bid !== null && bid > 0 ? quoteMid(bid, ask) : null;
}

/** The pairs of a group, ascending by strike. */
export function quotedPairs({ strikes }: ChainGroup, rows: readonly ChainRow[]): QuotedPair[] {
  const pairs: QuotedPair[] = [];
  for (const { dollars, call, put } of strikes) {
    const [callRow, putRow] = [rows[call], rows[put]];
    if (!callRow || !putRow) continue;
    const callMid = twoSidedMid(callRow);
    const putMid = twoSidedMid(putRow);
    if (callMid === null || putMid === null) continue;
    const halfSpread = 0.5 * (callRow.ask! - callRow.bid! + putRow.ask! - putRow.bid!);
    pairs.push({ strike: dollars, callMid, putMid, halfSpread });
  }
  return pairs;
}

/**
 * The pairs nearest the money, at most five, nearest first. Pairs more than 3% from it do not count: of expiries over a
 * quarter away, whose strikes are as far apart as their price may go, 3% times the square root of the quarters. Any
 * count where the options do not follow the spot.
 */
export function pairsAtTheMoney(pairs: readonly QuotedPair[], group: ChainGroup, money: number): QuotedPair[] {
  const { nearMoney, dividendSpanYears } = methodologySettings;
  if (!group.root.followsSpot) return nearestPairs(pairs, money);
  const reach = nearMoney * money * Math.sqrt(Math.max(1, group.years / dividendSpanYears));
  return nearestPairs(pairs, money).filter(({ strike }) => Math.abs(strike - money) <= reach);
}
