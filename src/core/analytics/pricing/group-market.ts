import type { PricedDividend } from '../../domain/chain/capture-inputs.ts';
import { methodologySettings } from '../methodology.ts';
import { yieldOfForward } from './black-scholes.ts';
import { type CashDividend, presentDividends } from './cash-dividends.ts';
import type { ChainGroup } from './chain-groups.ts';
import { boundedYield, carriedForward, measuredYield } from './forward.ts';
import { isEuropean, isShort, type QuotedGroup } from './quoted-groups.ts';
import { halfSpreadOf, hasPairs } from './quoted-pairs.ts';

/** Pricing inputs of one group's contracts. */
export interface GroupMarket {
  /**
   * The price with which options are priced, dollars: the underlying's, from the source or implied by the quotes, less
   * the present value of `dividend`; the forward itself for roots on forwards.
   */
  spot: number;
  /** Risk-free, continuous, a fraction per year. */
  rate: number;
  /** Continuous yield q besides the dividend, a fraction per year; the rate for roots on forwards. */
  dividendYield: number;
  /** Dollars: spot·e^{(r−q)T}. */
  forward: number;
  /** The dividend with an ex-date before the contracts end; null = none is known. */
  dividend: PricedDividend | null;
  /** The same in the form for a tree. */
  dividends: readonly CashDividend[];
}

/** A group's inputs from an earlier chain, which replace those from the quotes of American roots. */
export type KnownGroup = Pick<GroupMarket, 'rate' | 'dividendYield' | 'forward' | 'dividend'>;

/** By `root expiry`. */
export type KnownGroups = ReadonlyMap<string, KnownGroup>;

/** The key of a group in `KnownGroups`. */
export const groupKey = ({ root, expiry }: Pick<ChainGroup, 'root' | 'expiry'>) => `${root.root} ${expiry}`;

/** A group's own figure and its weight relative to its neighbours', 0…1. */
interface OwnFigure {
  years: number;
  value: number;
  weight: number;
}

/** The spot of a group without its dividends, dollars. */
const escrowedSpot = ({ dividends, rate }: QuotedGroup, pricingSpot: number) =>
  pricingSpot - presentDividends(dividends, rate);

function ownYield(group: QuotedGroup, pricingSpot: number, known: KnownGroups): OwnFigure {
  const { years, forward, pairs, rate } = group;
  const given = known.get(groupKey(group))?.dividendYield;
  if (given !== undefined && !(isEuropean(group) && forward > 0)) return { years, value: given, weight: 1 };
  if (!(forward > 0) || isShort(group)) return { years, value: 0, weight: 0 };
  const value = yieldOfForward(forward, escrowedSpot(group, pricingSpot), rate, years);
  if (isEuropean(group)) return { years, value, weight: 1 };
  const weight = Math.min(1, pairs.length / methodologySettings.fewestPairs);
  return { years, value: measuredYield(value, halfSpreadOf(group) / (pricingSpot * years)), weight };
}

/** The figure of the nearest expiry with full weight, else of the nearest that has one; null if none has. */
function neighbouring(figures: readonly OwnFigure[], years: number): number | null {
  const whole = figures.filter(({ weight }) => weight === 1);
  const usable = whole.length > 0 ? whole : figures.filter(({ weight }) => weight > 0);
  let nearest: OwnFigure | null = null;
  for (const one of usable) {
    if (nearest === null || Math.abs(one.years - years) < Math.abs(nearest.years - years)) nearest = one;
  }
  return nearest?.value ?? null;
}

/** The spot of a group: the part of its forward that no yield explains is attributed to the spot. */
function onSpot(group: QuotedGroup, pricingSpot: number, dividendYield: number): GroupMarket {
  const { years, forward, rate, dividend, dividends } = group;
  const spot = escrowedSpot(group, pricingSpot);
  const carried = carriedForward(spot, rate, dividendYield, years);
  const usual = { spot, rate, dividendYield, forward: carried, dividend, dividends };
  if (!(forward > 0)) return usual;
  const own = { ...usual, spot: (spot * forward) / carried, forward };
  // Equal except for rounding: the yield was derived from the forward.
  if (Math.abs(own.spot - spot) <= 1e-12 * spot) return { ...usual, forward };
  if (isEuropean(group)) return own;
  const withinQuotes = Math.abs(own.spot - spot) <= halfSpreadOf(group);
  return hasPairs(group) && !withinQuotes ? own : usual;
}

/** Options on a forward are priced on it alone (Black-76): with a yield equal to the rate, it does not grow. */
function onForward({ rate, dividend, dividends }: QuotedGroup, forward: number): GroupMarket {
  return { spot: forward, rate, dividendYield: rate, forward, dividend, dividends };
}

/** Pricing inputs of groups on the spot; `pricingSpot` in dollars. */
export function spotMarkets(groups: readonly QuotedGroup[], pricingSpot: number, known: KnownGroups): GroupMarket[] {
  const yields = groups.map((group) => ownYield(group, pricingSpot, known));
  return groups.map((group, i) => {
    const { value, weight, years } = yields[i]!;
    const drawn = weight === 1 ? value : weight * value + (1 - weight) * (neighbouring(yields, years) ?? 0);
    return onSpot(group, pricingSpot, weight === 0 ? boundedYield(drawn) : drawn);
  });
}

/**
 * Pricing inputs of groups on forwards: the forward of their quotes, else the known one, else that of the nearest
 * expiry; `spot`, dollars, if there is none at all.
 */
export function forwardMarkets(groups: readonly QuotedGroup[], spot: number, known: KnownGroups): GroupMarket[] {
  const forwards = groups.map((group): OwnFigure => {
    const value = group.forward > 0 ? group.forward : (known.get(groupKey(group))?.forward ?? 0);
    return { years: group.years, value, weight: value > 0 ? 1 : 0 };
  });
  return groups.map((group, i) => {
    const { value, weight, years } = forwards[i]!;
    return onForward(group, weight === 1 ? value : (neighbouring(forwards, years) ?? spot));
  });
}
