import { methodologySettings } from '../methodology.ts';
import { presentDividends } from './cash-dividends.ts';
import { carriedForward, measuredYield } from './forward.ts';
import { firstQuoted, isShort, type QuotedGroup } from './quoted-groups.ts';
import { allNearMoney, halfSpreadOf, hasPairs, median } from './quoted-pairs.ts';

/** The underlying's price implied by the quotes. */
export interface ImpliedSpot {
  /** Dollars; null if no expiry shows one, and for options on a forward. */
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

/** A yield, a fraction per year, and the uncertainty of the quotes that show it. */
interface MeasuredYield {
  value: number;
  error: number;
}

/**
 * The yield between an expiry and later ones, besides known dividends: the median over the first three at least a
 * quarter later, since dividends are quarterly; else up to the last expiry; null if there is none.
 */
function laterYield(first: QuotedGroup, groups: readonly QuotedGroup[]): MeasuredYield | null {
  const { yieldSpanYears } = methodologySettings;
  const span = ({ years }: QuotedGroup) => years - first.years;
  const later = groups
    .filter((group) => group.root.followsSpot && hasPairs(group) && group.forward > 0 && span(group) > 0)
    .sort((a, b) => a.years - b.years);
  const beyond = later.filter((group) => span(group) >= yieldSpanYears).slice(0, 3);
  const used = beyond.length > 0 ? beyond : later.slice(-1);
  if (used.length === 0) return null;
  const grown = (group: QuotedGroup) => group.rate * group.years - Math.log(undividedForward(group));
  const halfSpread = (group: QuotedGroup) => halfSpreadOf(group) / first.centre;
  return {
    value: median(used.map((group) => (grown(group) - grown(first)) / span(group))),
    error: median(used.map((group) => (halfSpread(group) + halfSpread(first)) / span(group))),
  };
}

/**
 * The midpoint of the price interval that American pairs allow for the underlying, dollars, with any yield between 0
 * and the rate: K·e^{−rT} + C − P to K + C − P. The half-spreads widen it symmetrically. NaN if dividends are to come,
 * which make the interval as wide as they are.
 */
function middleOfIntervals({ pairs, rate, years, dividends }: QuotedGroup): number {
  if (dividends.length > 0) return Number.NaN;
  const halfway = 0.5 * (1 + Math.exp(-rate * years));
  return median(pairs.map(({ strike, callMid, putMid }) => halfway * strike + callMid - putMid));
}

/** The price of the underlying implied by the quotes of one expiry, dollars; `dividendYield` null = unknown. */
function impliedBy(first: QuotedGroup, dividendYield: number | null): number {
  const { root, forward, rate, years, dividends } = first;
  const isUnknown = root.style === 'american' && dividendYield === null;
  if (isUnknown || !(forward > 0)) return middleOfIntervals(first);
  return forward / carriedForward(1, rate, dividendYield ?? 0, years) + presentDividends(dividends, rate);
}

/** The prices of the underlying, dollars, that a pair's quotes allow. */
interface Vote {
  low: number;
  high: number;
}

/** Range of an expiry's yield: as it is known, as two forwards show it, else all that is accepted. */
function yieldRange(known: number | undefined, measured: MeasuredYield | null): [least: number, greatest: number] {
  const { leastYield, greatestYield, believedYieldError } = methodologySettings;
  if (known !== undefined) return [known, known];
  if (measured === null || !(measured.error <= believedYieldError)) return [leastYield, greatestYield];
  return [measured.value - measured.error, measured.value + measured.error];
}

/**
 * The votes of an expiry's pairs near the money. A European pair shows the forward; an American one at most the
 * exercise of its call now, at least that of its put.
 */
function votesOf(group: QuotedGroup, [leastYield, greatestYield]: readonly [number, number]): Vote[] {
  const { root, rate, years, dividends, quotes, centre } = group;
  const present = presentDividends(dividends, rate);
  const discount = Math.exp(-rate * years);
  return allNearMoney(group, quotes, centre).map(({ strike, callMid, putMid, halfSpread }): Vote => {
    const [least, most] = [callMid - putMid - halfSpread, callMid - putMid + halfSpread];
    if (root.style === 'european')
      return {
        low: (strike * discount + least) * Math.exp(leastYield * years) + present,
        high: (strike * discount + most) * Math.exp(greatestYield * years) + present,
      };
    // With a negative rate the strike is worth more later.
    return {
      low: (strike * Math.min(1, discount) + least) * Math.min(1, Math.exp(leastYield * years)),
      high: (strike * Math.max(1, discount) + present + most) * Math.max(1, Math.exp(greatestYield * years)),
    };
  });
}

/** The smallest interval that the most votes share, the one nearest `spot` of equals (Marzullo); null without votes. */
export function sharedInterval(votes: readonly Vote[], spot: number): (Vote & { count: number }) | null {
  const edges = votes.flatMap(({ low, high }) => [
    { at: low, step: 1 },
    { at: high, step: -1 },
  ]);
  edges.sort((a, b) => a.at - b.at || b.step - a.step);
  const distance = ({ low, high }: Vote) => Math.max(0, low - spot, spot - high);
  let [count, best]: [number, (Vote & { count: number }) | null] = [0, null];
  edges.forEach(({ at, step }, i) => {
    count += step;
    if (step < 0 || edges[i + 1]!.step > 0) return;
    const found = { low: at, high: edges[i + 1]!.at, count };
    if (best === null || count > best.count || (count === best.count && distance(found) < distance(best))) best = found;
  });
  return best;
}

/**
 * The price of the underlying by a vote of all pairs near the money of the expiries within 60 days, where no expiry
 * within ten days shows it: shares with monthly expiries only, or coarse strikes. Half of the votes must share an
 * interval.
 */
function votedSpot(groups: readonly QuotedGroup[], spot: number, knownYield: KnownYield): ImpliedSpot {
  const { voteYears, widestVote, narrowVote, spotTolerance } = methodologySettings;
  const onSpot = groups.filter(({ root }) => root.followsSpot).sort((a, b) => a.years - b.years);
  const first = onSpot.find((group) => hasPairs(group) && group.forward > 0 && !isShort(group));
  const measured = first ? laterYield(first, onSpot) : null;
  const votes = onSpot
    .filter(({ years }) => years <= voteYears)
    .flatMap((group) => votesOf(group, yieldRange(knownYield(group), measured)))
    .filter(({ low, high }) => high - low <= widestVote * spot);
  const shared = sharedInterval(votes, spot);
  if (shared === null || 2 * shared.count < votes.length) return unknown;
  const { low, high } = shared;
  const nearest = Math.min(high, Math.max(low, spot));
  return {
    impliedSpot: high - low <= narrowVote * spot ? 0.5 * (low + high) : nearest,
    spotStale: Math.abs(nearest - spot) > spotTolerance * spot,
  };
}

const unknown: ImpliedSpot = { impliedSpot: null, spotStale: null };

/** The yield of a group that an earlier chain showed, a fraction per year. */
type KnownYield = (group: QuotedGroup) => number | undefined;

/**
 * The price of the underlying implied by the quotes of its first expiry: its forward discounted by r − q with the q of
 * later expiries, and the dividends until then; else by a vote of all expiries. `spot` is the source's.
 */
export function impliedSpotOf(groups: readonly QuotedGroup[], spot: number, knownYield: KnownYield): ImpliedSpot {
  const first = firstQuoted(groups);
  if (first === null) return votedSpot(groups, spot, knownYield);
  const later = laterYield(first, groups);
  const firstYield = knownYield(first) ?? (later && measuredYield(later.value, later.error));
  const impliedSpot = impliedBy(first, firstYield);
  if (!(impliedSpot > 0)) return votedSpot(groups, spot, knownYield);
  const { spotTolerance } = methodologySettings;
  const tolerance = Math.max(spotTolerance * spot, 2 * halfSpreadOf(first));
  const isOff = Math.abs(impliedSpot - spot) > tolerance;
  // Without a yield, a spot that the votes allow is not stale.
  const isAllowed = isOff && firstYield === null && votedSpot(groups, spot, knownYield).spotStale === false;
  return { impliedSpot, spotStale: isOff && !isAllowed };
}
