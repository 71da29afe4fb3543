import type { PricedDividend } from '../../domain/chain/priced-dividend.ts';
import { methodologySettings } from '../methodology.ts';
import { type CashDividend, presentDividends } from './cash-dividends.ts';
import type { ChainGroup } from './chain-groups.ts';
import { americanForward, parityForward } from './forward.ts';
import { type ComingDividend, cashOf, dividendsBefore, pricedDividend } from './group-dividends.ts';
import type { RateSource } from './group-rate.ts';
import { centreOf, pairsNearMoney } from './near-money.ts';
import { hasPairs, type QuotedPair } from './quoted-pairs.ts';

/** A group with its quoted pairs, ascending by strike. */
export interface PairedGroup extends ChainGroup {
  pairs: readonly QuotedPair[];
}

/** A group with the values implied by its quotes at the money. */
export interface QuotedGroup extends ChainGroup {
  /** Near the money, nearest first. */
  pairs: readonly QuotedPair[];
  /** Dollars; NaN if the quotes imply none. */
  forward: number;
  /** Risk-free, continuous, a fraction per year. */
  rate: number;
  /** Null = none is known. */
  dividend: PricedDividend | null;
  /** The same in the form for a tree. */
  dividends: readonly CashDividend[];
}

/** Terms of a group that do not depend on its quotes. */
export interface GroupTerms {
  /** The price of the underlying around which the money is searched, dollars. */
  money: number;
  rates: RateSource;
  coming: readonly ComingDividend[];
}

export const isEuropean = ({ root }: Pick<ChainGroup, 'root'>) => root.style === 'european';

/** The group for the implied spot: the first to expire within ten days with enough pairs; null if there is none. */
export function firstQuoted<Group extends Pick<QuotedGroup, 'pairs' | 'years' | 'root'>>(
  groups: readonly Group[],
): Group | null {
  let first: Group | null = null;
  for (const group of groups) {
    if (!group.root.followsSpot || group.years > methodologySettings.impliedSpotYears || !hasPairs(group)) continue;
    if (first === null || group.years < first.years) first = group;
  }
  return first;
}

/** True for a group with less than a day left: its quotes imply the price of the underlying, but not its yield. */
export const isShort = ({ years }: Pick<ChainGroup, 'years'>) => years < methodologySettings.shortestYieldYears;

/**
 * The pairs for the forward. If there is an ex-date before expiry, only those at and above the money, if they are
 * enough: below it a call may be worth exercising first, and then implies nothing about the price afterwards.
 */
function forwardPairs(group: PairedGroup, centre: number, hasDividends: boolean): QuotedPair[] {
  if (hasDividends && !isEuropean(group)) {
    const above = group.pairs.filter(({ strike }) => strike >= centre);
    const pairs = pairsNearMoney(group, above, centre);
    if (hasPairs({ pairs })) return pairs;
  }
  return pairsNearMoney(group, group.pairs, centre);
}

function quotedGroup(group: PairedGroup, { money, rates, coming }: GroupTerms): QuotedGroup {
  const centre = centreOf(group.pairs, money);
  const dividends = group.root.followsSpot ? dividendsBefore(group, coming) : [];
  return {
    ...group,
    pairs: forwardPairs(group, centre, dividends.length > 0),
    forward: Number.NaN,
    rate: rates({ ...group, centre }),
    dividend: pricedDividend(dividends),
    dividends: cashOf(dividends),
  };
}

/** The forward implied by a group's quotes, dollars; NaN if there is none. */
function impliedForward(group: QuotedGroup, money: number): number {
  const { pairs, years, rate, dividends } = group;
  // Below a day exercise adds nothing, unless there is an ex-date.
  if (isEuropean(group) || (isShort(group) && dividends.length === 0))
    return hasPairs(group) ? parityForward(pairs, Math.exp(-rate * years)) : Number.NaN;
  return americanForward(pairs, { spot: money - presentDividends(dividends, rate), years, rate, dividends });
}

/**
 * The groups with their pairs near the money and the implied forwards. Forwards of American options are slow to
 * compute: those for which `isKnown` is true are left unknown, except the first's, which gives the implied spot.
 */
export function quotedGroups(
  groups: readonly PairedGroup[],
  terms: GroupTerms,
  isKnown: (group: ChainGroup) => boolean,
): QuotedGroup[] {
  const quoted = groups.map((group) => quotedGroup(group, terms));
  const first = firstQuoted(quoted);
  for (const group of quoted) {
    if (isEuropean(group) || isShort(group) || group === first || !isKnown(group))
      group.forward = impliedForward(group, terms.money);
  }
  return quoted;
}
