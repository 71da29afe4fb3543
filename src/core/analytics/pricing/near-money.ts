import { methodologySettings } from '../methodology.ts';
import type { ChainGroup, ListedStrike } from './chain-groups.ts';
import { nearestPairs, pairForward, type QuotedPair } from './quoted-pairs.ts';

/** Number of straddles in one standard deviation: a straddle at the forward is worth S·σ·√T·√(2/π). */
export const straddlesPerSigma = 1.2533;

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
