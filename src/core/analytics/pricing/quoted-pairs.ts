import type { ChainRow } from '../../domain/chain/chain.ts';
import { methodologySettings } from '../methodology.ts';
import type { ChainGroup, ListedStrike } from './chain-groups.ts';
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

/** Number of straddles in one standard deviation: a straddle at the forward is worth S·σ·√T·√(2/π). */
const straddlesPerSigma = 1.2533;

function nearestPair(pairs: readonly QuotedPair[], price: number): QuotedPair | null {
  let nearest: QuotedPair | null = null;
  for (const pair of pairs) {
    if (nearest === null || Math.abs(pair.strike - price) < Math.abs(nearest.strike - price)) nearest = pair;
  }
  return nearest;
}

/**
 * The money of a group, dollars: `price`, unless the pair nearest to it puts it more than 3% away. A prior close after
 * a gap can be that far off, and so can a spot that the options do not follow. `at`: the strike at which that pair is
 * searched, if it is not the price.
 */
export function centreOf(pairs: readonly QuotedPair[], price: number, at = price): number {
  const nearest = nearestPair(pairs, at);
  const implied = nearest && pairForward(nearest, 1);
  return implied !== null && implied > 0 && Math.abs(implied - price) > methodologySettings.nearMoney * price
    ? implied
    : price;
}

/** The gap, dollars, between the two listed strikes around a price; 0 beyond the outermost. */
function gapAround(strikes: readonly ListedStrike[], price: number): number {
  const above = strikes.findIndex(({ dollars }) => dollars > price);
  return above <= 0 ? 0 : strikes[above]!.dollars - strikes[above - 1]!.dollars;
}

/**
 * All pairs near the money of a group, `centre`, ascending by strike. Near means within the largest of 3% of it, 2.5
 * gaps between its listed strikes there, and one standard deviation by its straddle: a share of $11 with strikes every
 * $0.50 has pairs too, and so has an expiry with strikes one standard deviation apart.
 */
export function allNearMoney(
  { strikes }: Pick<ChainGroup, 'strikes'>,
  pairs: readonly QuotedPair[],
  centre: number,
): QuotedPair[] {
  const { nearMoney, nearMoneyGaps } = methodologySettings;
  const nearest = nearestPair(pairs, centre);
  const sigma = nearest ? straddlesPerSigma * (nearest.callMid + nearest.putMid) : 0;
  const reach = Math.max(nearMoney * centre, nearMoneyGaps * gapAround(strikes, centre), sigma);
  return pairs.filter(({ strike }) => Math.abs(strike - centre) <= reach);
}

/** The pairs near the money for a forward: at most five, nearest first. */
export function pairsNearMoney(
  group: Pick<ChainGroup, 'strikes'>,
  pairs: readonly QuotedPair[],
  centre: number,
): QuotedPair[] {
  return nearestPairs(allNearMoney(group, pairs, centre), centre);
}
