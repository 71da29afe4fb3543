import type { PricedDividend } from '../../domain/chain/capture-inputs.ts';
import { methodologySettings } from '../methodology.ts';
import { type CashDividend, presentDividends } from './cash-dividends.ts';
import type { ChainGroup } from './chain-groups.ts';
import { americanForward, parityForward } from './forward.ts';
import { type ComingDividend, cashOf, dividendsBefore, pricedDividend } from './group-dividends.ts';
import { groupRates, type RateReference, referenceRate } from './group-rate.ts';
import { centreOf, hasPairs, pairsNearMoney, type QuotedPair } from './quoted-pairs.ts';

/** A group with its quoted pairs, ascending by strike. */
export interface PairedGroup extends ChainGroup {
  pairs: readonly QuotedPair[];
}

/** A group with its money. */
interface CentredGroup extends PairedGroup {
  /** Dollars, without the dividends until expiry. */
  centre: number;
  /** The dividends until expiry, and their present value, dollars. */
  coming: readonly ComingDividend[];
  present: number;
}

/** A group with the values implied by its quotes at the money. */
export interface QuotedGroup extends ChainGroup {
  /** All its pairs, ascending by strike. */
  quotes: readonly QuotedPair[];
  /** Its money, dollars, without the dividends until expiry. */
  centre: number;
  /** The pairs for the forward: near the money, nearest first. */
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
  reference: RateReference;
  coming: readonly ComingDividend[];
}

export const isEuropean = ({ root }: Pick<ChainGroup, 'root'>) => root.style === 'european';

/** The group for the implied spot: the first to expire within ten days with enough pairs; null if there is none. */
export function firstQuoted<Group extends Pick<QuotedGroup, 'pairs' | 'years' | 'root'>>(
  groups: readonly Group[],
): Group | null {
  const { impliedSpotDays } = methodologySettings;
  let first: Group | null = null;
  for (const group of groups) {
    if (!group.root.followsSpot || 365 * group.years >= impliedSpotDays + 1 || !hasPairs(group)) continue;
    if (first === null || group.years < first.years) first = group;
  }
  return first;
}

/** True for a group with less than a day left: its quotes imply the price of the underlying, but not its yield. */
export const isShort = ({ years }: Pick<ChainGroup, 'years'>) => years < methodologySettings.shortestYieldYears;

/**
 * A group with its money: the price of the underlying without the dividends until expiry, or what its pairs show; of
 * American ones the pair at the price with them, below which a call may be worth its exercise.
 */
export function centred(group: PairedGroup, { money, reference, coming }: GroupTerms): CentredGroup {
  const dividends = group.root.followsSpot ? dividendsBefore(group, coming) : [];
  const present = presentDividends(cashOf(dividends), referenceRate(reference, group.years));
  const centre = centreOf(group.pairs, money - present, isEuropean(group) ? money - present : money);
  return { ...group, centre, coming: dividends, present };
}

/** True for a pair of which both options are worth over `least` more than their exercise at `price`, dollars. */
function isHeld({ strike, callMid, putMid }: QuotedPair, price: number, least: number): boolean {
  const exercise = price - strike;
  return callMid > Math.max(0, exercise) + least && putMid > Math.max(0, -exercise) + least;
}

/**
 * The pairs for the forward. An American option that is worth its exercise implies nothing about the price afterwards,
 * so that pairs without one come first, if they are enough. If there is an ex-date before expiry, only those at and
 * above the price with the dividend, if they are enough, else only those of options that are worth clearly more.
 */
function forwardPairs(group: CentredGroup, money: number): QuotedPair[] {
  const { pairs, centre, present } = group;
  const near = (some: readonly QuotedPair[], price = centre) => pairsNearMoney(group, some, price);
  if (isEuropean(group) || (present === 0 && isShort(group))) return near(pairs);
  if (present === 0) {
    const held = near(pairs.filter((pair) => isHeld(pair, money, pair.halfSpread)));
    return hasPairs({ pairs: held }) ? held : near(pairs);
  }
  const price = centre + present;
  const above = near(
    pairs.filter(({ strike }) => strike >= price),
    price,
  );
  if (hasPairs({ pairs: above })) return above;
  const { heldMargin } = methodologySettings;
  return near(pairs.filter((pair) => pair.strike >= price || isHeld(pair, price, heldMargin * price)));
}

function quotedGroup(group: CentredGroup, rate: number, money: number): QuotedGroup {
  const { pairs: quotes, coming, present: _, ...rest } = group;
  const forward = Number.NaN;
  const priced = { dividend: pricedDividend(coming), dividends: cashOf(coming) };
  return { ...rest, quotes, pairs: forwardPairs(group, money), forward, rate, ...priced };
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
  { isKnown, rateOf }: { isKnown(group: ChainGroup): boolean; rateOf(group: ChainGroup): number | undefined },
): QuotedGroup[] {
  const around = groups.map((group) => centred(group, terms));
  const rates = groupRates(around, terms.reference);
  const quoted = around.map((group, i) => quotedGroup(group, rateOf(group) ?? rates[i]!, terms.money));
  const first = firstQuoted(quoted);
  for (const group of quoted) {
    if (isEuropean(group) || isShort(group) || group === first || !isKnown(group))
      group.forward = impliedForward(group, terms.money);
  }
  return quoted;
}
