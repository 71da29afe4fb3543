import { methodologySettings } from '../methodology.ts';
import { presentDividends } from './cash-dividends.ts';
import { boundedYield, carriedForward } from './forward.ts';
import { firstQuoted, type QuotedGroup } from './quoted-groups.ts';
import { halfSpreadOf, hasPairs, median } from './quoted-pairs.ts';

/** The underlying's price implied by the quotes. */
export interface ImpliedSpot {
  /** Dollars; null if no expiry within ten days has enough pairs, and for options on a forward. */
  impliedSpot: number | null;
  /**
   * True if it differs from the source's price by more than the uncertainty of the quotes; null without a comparison.
   */
  spotStale: boolean | null;
}

/** A group's forward, dollars, if its dividends were not paid. */
function undividedForward({ forward, rate, years, dividends }: QuotedGroup): number {
  return forward + presentDividends(dividends, rate) * Math.exp(rate * years);
}

/**
 * The yield, a fraction per year, between the first expiry and later ones, besides known dividends: the median over the
 * first three at least a quarter later, since dividends are quarterly; else up to the last expiry; null if there is
 * none.
 */
function laterYield(first: QuotedGroup, groups: readonly QuotedGroup[]): number | null {
  const { yieldSpanYears } = methodologySettings;
  const span = ({ years }: QuotedGroup) => years - first.years;
  const later = groups
    .filter((group) => group.root.followsSpot && hasPairs(group) && group.forward > 0 && span(group) > 0)
    .sort((a, b) => a.years - b.years);
  const beyond = later.filter((group) => span(group) >= yieldSpanYears).slice(0, 3);
  const used = beyond.length > 0 ? beyond : later.slice(-1);
  if (used.length === 0) return null;
  const grown = (group: QuotedGroup) => group.rate * group.years - Math.log(undividedForward(group));
  return boundedYield(median(used.map((group) => (grown(group) - grown(first)) / span(group))));
}

/**
 * The midpoint of the price interval that American pairs allow for the underlying, dollars, with any yield between 0
 * and the rate: K·e^{−rT} + C − P to K + C − P. The half-spreads widen it symmetrically. Pairs above the money show the
 * price without coming dividends.
 */
function middleOfIntervals({ pairs, rate, years, dividends }: QuotedGroup): number {
  const halfway = 0.5 * (1 + Math.exp(-rate * years));
  const middle = median(pairs.map(({ strike, callMid, putMid }) => halfway * strike + callMid - putMid));
  return middle + presentDividends(dividends, rate);
}

/** The price of the underlying implied by the quotes of one expiry, dollars; `dividendYield` null = unknown. */
function impliedBy(first: QuotedGroup, dividendYield: number | null): number {
  const { root, forward, rate, years, dividends } = first;
  const isUnknown = root.style === 'american' && dividendYield === null;
  if (isUnknown || !(forward > 0)) return middleOfIntervals(first);
  return forward / carriedForward(1, rate, dividendYield ?? 0, years) + presentDividends(dividends, rate);
}

/**
 * The price of the underlying implied by the quotes of its first expiry: its forward discounted by r − q with the q of
 * later expiries, and the dividends until then; `spot` is the source's.
 */
export function impliedSpotOf(
  groups: readonly QuotedGroup[],
  spot: number,
  knownYield: (group: QuotedGroup) => number | undefined,
): ImpliedSpot {
  const first = firstQuoted(groups);
  if (first === null) return { impliedSpot: null, spotStale: null };
  const impliedSpot = impliedBy(first, knownYield(first) ?? laterYield(first, groups));
  if (!(impliedSpot > 0)) return { impliedSpot: null, spotStale: null };
  const { spotTolerance } = methodologySettings;
  const tolerance = Math.max(spotTolerance * spot, 2 * halfSpreadOf(first));
  return { impliedSpot, spotStale: Math.abs(impliedSpot - spot) > tolerance };
}
