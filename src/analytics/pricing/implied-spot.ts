import { methodologySettings } from '../methodology.ts';
import { yieldOfForward } from './black-scholes.ts';
import type { ChainGroup } from './chain-groups.ts';
import { boundedYield, carriedForward } from './forward.ts';
import { median, type QuotedPair } from './quoted-pairs.ts';

/** A group with what its quotes say at the money. */
export interface QuotedGroup extends ChainGroup {
  /** Nearest the money first. */
  pairs: readonly QuotedPair[];
  /** Dollars; NaN when the quotes imply none. */
  forward: number;
}

/** What the quotes say of the underlying's price. */
export interface ImpliedSpot {
  /** Dollars; null when no expiry within ten days has enough pairs. */
  impliedSpot: number | null;
  /** True when it differs from the source's price by more than the quotes leave open. */
  spotStale: boolean;
}

export const hasPairs = ({ pairs }: Pick<QuotedGroup, 'pairs'>) => pairs.length >= methodologySettings.fewestPairs;

/** By how much C − P is uncertain at the money, dollars. */
export const halfSpreadOf = ({ pairs }: Pick<QuotedGroup, 'pairs'>) =>
  median(pairs.map(({ halfSpread }) => halfSpread));

/**
 * The group from which the implied spot is read: the first to expire within ten days with enough pairs; null when there
 * is none.
 */
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

/**
 * The yield, a fraction a year, between the first expiry and later ones: the median over the first three at least a
 * quarter later, since dividends come by the quarter; else up to the last expiry; 0 when there is none.
 */
function laterYield(first: QuotedGroup, groups: readonly QuotedGroup[], rate: number): number {
  const { dividendSpanYears } = methodologySettings;
  const span = ({ years }: QuotedGroup) => years - first.years;
  const later = groups
    .filter((group) => group.root.followsSpot && hasPairs(group) && group.forward > 0 && span(group) > 0)
    .sort((a, b) => a.years - b.years);
  const beyond = later.filter((group) => span(group) >= dividendSpanYears).slice(0, 3);
  const used = beyond.length > 0 ? beyond : later.slice(-1);
  if (used.length === 0) return 0;
  const yields = used.map((group) => yieldOfForward(group.forward, first.forward, rate, span(group)));
  return boundedYield(median(yields));
}

/**
 * The implied spot where it is under the source's by about one quarter's dividend: that may go ex before an expiry of a
 * day or more, and then belongs to its yield, as far as a yield may hold it.
 */
function withDividend(implied: number, spot: number, first: QuotedGroup, rate: number, dividendYield: number): number {
  if (first.years < methodologySettings.shortestYieldYears) return implied;
  const quarter = dividendYield * methodologySettings.dividendSpanYears;
  const missing = 1 - implied / spot;
  if (missing < 0.5 * quarter || missing > 1.5 * quarter || !(quarter > 0)) return implied;
  const highest = first.forward / carriedForward(1, rate, methodologySettings.greatestYield, first.years);
  return Math.min(spot, Math.max(implied, highest));
}

/**
 * The price of the underlying that the quotes of its first expiry imply, brought back by r − q with the q of later
 * expiries; `spot` is the source's.
 */
export function impliedSpotOf(
  groups: readonly QuotedGroup[],
  spot: number,
  rate: number,
  knownYield: (group: QuotedGroup) => number | undefined,
): ImpliedSpot {
  const first = firstQuoted(groups);
  if (first === null || !(first.forward > 0)) return { impliedSpot: null, spotStale: false };
  const dividendYield = knownYield(first) ?? laterYield(first, groups, rate);
  const implied = first.forward / carriedForward(1, rate, dividendYield, first.years);
  const impliedSpot = withDividend(implied, spot, first, rate, dividendYield);
  const { spotTolerance } = methodologySettings;
  const tolerance = Math.max(spotTolerance * spot, 2 * halfSpreadOf(first));
  return { impliedSpot, spotStale: Math.abs(impliedSpot - spot) > tolerance };
}
