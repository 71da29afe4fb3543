import type { ChainRow } from '../../domain/chain/chain.ts';
import { methodologySettings } from '../methodology.ts';
import { americanYield } from './american.ts';
import { yieldOfForward } from './black-scholes.ts';
import type { ChainGroup } from './chain-groups.ts';
import { nearestPairs, parityForward, type QuotedPair } from './forward.ts';
import { quoteMid } from './mark.ts';

/** The strikes whose call and put both have a bid above zero and an ask not under it. */
function quotedPairs(group: ChainGroup, rows: readonly ChainRow[]): QuotedPair[] {
  const pairs: QuotedPair[] = [];
  for (const { dollars, call, put } of group.strikes) {
    if (call < 0 || put < 0) continue;
    const callMid = twoSidedMid(rows[call]!);
    const putMid = twoSidedMid(rows[put]!);
    if (callMid !== null && putMid !== null) pairs.push({ strike: dollars, callMid, putMid });
  }
  return pairs;
}

function twoSidedMid({ bid, ask }: ChainRow): number | null {
  return bid !== null && bid > 0 ? quoteMid(bid, ask) : null;
}

/** The yield one group's own quotes imply; null when they imply none. */
function ownYield(group: ChainGroup, rows: readonly ChainRow[], spot: number, rate: number): number | null {
  const { years, root } = group;
  if (years < methodologySettings.shortestParityYears) return null;
  const pairs = quotedPairs(group, rows);
  if (root.style === 'european') {
    const forward = parityForward(pairs, spot, Math.exp(-rate * years));
    return forward !== null && forward > 0 ? yieldOfForward(forward, spot, rate, years) : null;
  }
  for (const { strike, callMid, putMid } of nearestPairs(pairs, spot)) {
    const found = americanYield(callMid, putMid, { spot, strike, years, rate });
    if (!Number.isNaN(found)) return found;
  }
  return null;
}

/** The yield that each group's own quotes imply; null where they imply none. */
export function ownYields(
  groups: readonly ChainGroup[],
  rows: readonly ChainRow[],
  spot: number,
  rate: number,
): (number | null)[] {
  return groups.map((group) => ownYield(group, rows, spot, rate));
}

/** The yields of groups, those not known taken from the group nearest in time; 0 when none is known. */
export function filledYields(
  groups: readonly Pick<ChainGroup, 'years'>[],
  known: readonly (number | null)[],
): number[] {
  return groups.map(({ years }, i) => {
    if (known[i] !== null) return known[i]!;
    let nearest = -1;
    for (let j = 0; j < groups.length; j++) {
      if (known[j] === null) continue;
      if (nearest < 0 || Math.abs(groups[j]!.years - years) < Math.abs(groups[nearest]!.years - years)) nearest = j;
    }
    return nearest < 0 ? 0 : known[nearest]!;
  });
}

/**
 * The dividend yield q of each group, so that S·e^{(r−q)T} is its forward: by parity (European) or by the at-the-money call
 * and put agreeing (American). A group under one day from expiry, or without quotes, takes that of the group nearest in time;
 * 0 when no group has one.
 */
export function dividendYields(
  groups: readonly ChainGroup[],
  rows: readonly ChainRow[],
  spot: number,
  rate: number,
): number[] {
  return filledYields(groups, ownYields(groups, rows, spot, rate));
}
