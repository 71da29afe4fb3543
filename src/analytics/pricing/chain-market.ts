import type { ChainRow } from '../../domain/chain/chain.ts';
import { methodologySettings } from '../methodology.ts';
import { yieldOfForward } from './black-scholes.ts';
import type { ChainGroup } from './chain-groups.ts';
import { americanForward, boundedYield, carriedForward, parityForward } from './forward.ts';
import {
  firstQuoted,
  halfSpreadOf,
  hasPairs,
  type ImpliedSpot,
  impliedSpotOf,
  type QuotedGroup,
} from './implied-spot.ts';
import { median, pairForward, pairsAtTheMoney, type QuotedPair, quotedPairs } from './quoted-pairs.ts';

/** What the contracts of one group are priced in. */
export interface GroupMarket {
  /** The price of the underlying that options are priced with, dollars: the source's, or what the quotes imply. */
  spot: number;
  /** Continuous yield q, a fraction a year. */
  dividendYield: number;
  /** Dollars: spot·e^{(r−q)T}. */
  forward: number;
}

/** What a chain is priced in. */
export interface ChainMarket extends ImpliedSpot {
  /** The price of the underlying that options are priced with, dollars: the implied one when the source's is stale. */
  pricingSpot: number;
  /** Parallel to the groups. */
  groups: GroupMarket[];
}

/**
 * Yields that are known beforehand, by `root expiry`; they stand for those that quotes of American roots would give.
 */
export type KnownYields = ReadonlyMap<string, number>;

const noYields: KnownYields = new Map();

/** The key of a group in `KnownYields`. */
export const yieldKey = ({ root, expiry }: Pick<ChainGroup, 'root' | 'expiry'>) => `${root.root} ${expiry}`;

const isShort = ({ years }: Pick<ChainGroup, 'years'>) => years < methodologySettings.shortestYieldYears;
const isEuropean = ({ root }: Pick<ChainGroup, 'root'>) => root.style === 'european';

/** A group with every strike that has a quoted pair. */
interface PairedGroup extends ChainGroup {
  pairs: readonly QuotedPair[];
}

/**
 * Where the money is, dollars, to look for pairs at it: the source's price, unless pairs of the first expiry put it
 * more than 3% from there, as a prior close after a gap is.
 */
function moneyOf(groups: readonly PairedGroup[], spot: number): number {
  const first = firstQuoted(groups);
  if (first === null) return spot;
  const implied = median(first.pairs.map((pair) => pairForward(pair, 1)));
  return Math.abs(implied - spot) <= methodologySettings.nearMoney * spot ? spot : implied;
}

/** The groups with their pairs at the money and the forwards these imply. */
function quotedGroups(groups: readonly PairedGroup[], money: number, rate: number, known: KnownYields): QuotedGroup[] {
  const quoted = groups.map(
    (group): QuotedGroup => ({ ...group, pairs: pairsAtTheMoney(group.pairs, group, money), forward: Number.NaN }),
  );
  const first = firstQuoted(quoted);
  for (const group of quoted) {
    const { pairs, years } = group;
    if (isEuropean(group)) {
      if (hasPairs(group)) group.forward = parityForward(pairs, Math.exp(-rate * years));
    } else if (isShort(group) ? hasPairs(group) : group === first || !known.has(yieldKey(group))) {
      group.forward = americanForward(pairs, { spot: money, years, rate });
    }
  }
  return quoted;
}

/** A group's own yield and how much it counts beside its neighbours', 0…1. */
interface OwnYield {
  years: number;
  value: number;
  weight: number;
}

function ownYield(group: QuotedGroup, spot: number, rate: number, known: KnownYields): OwnYield {
  const { years, forward, pairs } = group;
  const given = known.get(yieldKey(group));
  if (given !== undefined && !(isEuropean(group) && forward > 0)) return { years, value: given, weight: 1 };
  if (!(forward > 0) || (isShort(group) && group.root.followsSpot)) return { years, value: 0, weight: 0 };
  const value = yieldOfForward(forward, spot, rate, years);
  if (isEuropean(group)) return { years, value, weight: 1 };
  const weight = Math.min(1, pairs.length / methodologySettings.fewestPairs);
  return { years, value: boundedYield(value), weight };
}

/** The yield of the nearest in time whose own counts in full, else of the nearest that has one; 0 when none has. */
function neighbouringYield(yields: readonly OwnYield[], years: number): number {
  const whole = yields.filter(({ weight }) => weight === 1);
  const usable = whole.length > 0 ? whole : yields.filter(({ weight }) => weight > 0);
  let nearest: OwnYield | null = null;
  for (const one of usable) {
    if (nearest === null || Math.abs(one.years - years) < Math.abs(nearest.years - years)) nearest = one;
  }
  return nearest?.value ?? 0;
}

/** The spot of a group: what of its forward no yield explains is in its spot. */
function groupMarket(group: QuotedGroup, pricingSpot: number, dividendYield: number, rate: number): GroupMarket {
  const { years, forward, root } = group;
  const carried = carriedForward(pricingSpot, rate, dividendYield, years);
  const own = { spot: (pricingSpot * forward) / carried, dividendYield, forward };
  const usual = { spot: pricingSpot, dividendYield, forward: carried };
  if (!(forward > 0)) return usual;
  // Rounding apart these are one: the yield was read off the forward.
  if (Math.abs(own.spot - pricingSpot) <= 1e-12 * pricingSpot) return { ...usual, forward };
  if (isEuropean(group)) return root.followsSpot ? own : { ...usual, forward };
  const withinQuotes = Math.abs(own.spot - pricingSpot) <= halfSpreadOf(group);
  return hasPairs(group) && !withinQuotes ? own : usual;
}

/**
 * What a chain is priced in (methodology 2): the forward of every group from parity, the price of the underlying that
 * they imply, and yields around it. `spot` is the source's price, dollars; `rate` continuous. Call and put of a strike
 * then have one volatility within their quotes, also where spot and quotes are not of one instant.
 */
export function chainMarket(
  groups: readonly ChainGroup[],
  rows: readonly ChainRow[],
  spot: number,
  rate: number,
  known: KnownYields = noYields,
): ChainMarket {
  const paired = groups.map((group): PairedGroup => ({ ...group, pairs: quotedPairs(group, rows) }));
  const given = (group: ChainGroup) => known.get(yieldKey(group));
  let quoted = quotedGroups(paired, moneyOf(paired, spot), rate, known);
  let implied = impliedSpotOf(quoted, spot, rate, given);
  if (implied.spotStale) {
    quoted = quotedGroups(paired, implied.impliedSpot!, rate, known);
    implied = impliedSpotOf(quoted, spot, rate, given);
  }
  const pricingSpot = implied.spotStale ? implied.impliedSpot! : spot;
  const yields = quoted.map((group) => ownYield(group, pricingSpot, rate, known));
  return {
    ...implied,
    pricingSpot,
    groups: quoted.map((group, i) => {
      const { value, weight, years } = yields[i]!;
      const drawn = weight === 1 ? value : weight * value + (1 - weight) * neighbouringYield(yields, years);
      return groupMarket(group, pricingSpot, weight === 0 ? boundedYield(drawn) : drawn, rate);
    }),
  };
}
