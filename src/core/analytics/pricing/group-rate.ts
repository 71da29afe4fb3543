import type { Dividend } from '../../domain/market/dividends.ts';
import { type Rate, rateAt } from '../../domain/market/rates.ts';
import { methodologySettings } from '../methodology.ts';
import type { ChainGroup } from './chain-groups.ts';
import type { QuotedPair } from './quoted-pairs.ts';

/** A point of an interest rate curve: days to maturity, and the continuous rate, a fraction per year. */
type CurvePoint = Pick<Rate, 'days' | 'rate'>;

/** A group for which a rate is determined. */
interface RatedGroup extends Pick<ChainGroup, 'root' | 'expiry' | 'years'> {
  /** All its quoted pairs. */
  pairs: readonly QuotedPair[];
  /** Its money, dollars. */
  centre: number;
}

/**
 * The rate implied by a European group's own pairs: C − P falls by e^{−rT} per dollar of strike. Least squares over the
 * pairs within 10% of the money; null with fewer than 10, or a span below 5% of it.
 */
export function slopeRate({ pairs, centre, years }: Pick<RatedGroup, 'pairs' | 'centre' | 'years'>): number | null {
  const { rateReach, rateSpan, fewestRatePairs } = methodologySettings;
  const used = pairs.filter(({ strike }) => Math.abs(strike - centre) <= rateReach * centre);
  if (used.length < fewestRatePairs) return null;
  if (used.at(-1)!.strike - used[0]!.strike < rateSpan * centre) return null;
  let [strikes, differences] = [0, 0];
  for (const { strike, callMid, putMid } of used) {
    strikes += strike / used.length;
    differences += (callMid - putMid) / used.length;
  }
  let [covariance, variance] = [0, 0];
  for (const { strike, callMid, putMid } of used) {
    covariance += (strike - strikes) * (callMid - putMid - differences);
    variance += (strike - strikes) ** 2;
  }
  const discount = -covariance / variance;
  return discount > 0 ? -Math.log(discount) / years : null;
}

/** Sources of a chain's rates besides its own quotes. */
export interface RateReference {
  /** Risk-free rate if nothing else gives one, continuous, a fraction per year. */
  rate: number;
  /** The interest rate curve of the session, ascending by days; absent or empty: there is none. */
  curve?: readonly CurvePoint[] | undefined;
  /** The rate of US bills in force, used without a curve; absent or null: there is none. */
  bill?: Pick<Rate, 'rate'> | null | undefined;
  /** Determines every group's rate in place of all others. */
  rates?: ((group: Pick<RatedGroup, 'years'>) => number) | undefined;
}

/** The rate at a number of years without regard to quotes: that of the curve, else of bills, else the setting. */
export function referenceRate({ rate, curve = [], bill, rates }: RateReference, years: number): number {
  return rates?.({ years }) ?? rateAt(curve, 365 * years) ?? bill?.rate ?? rate;
}

/**
 * The rate that a European group's own pairs show, if it has at least a tenth of a year and they are plausible: within
 * 2% of the curve, or without a curve between −2% and 20%. A default is no evidence against forty pairs. Else null.
 */
function measuredRate(group: RatedGroup, { curve = [] }: RateReference): number | null {
  const { shortestRateYears, rateTolerance, leastRate, greatestRate } = methodologySettings;
  if (group.root.style !== 'european' || group.years < shortestRateYears) return null;
  const own = slopeRate(group);
  const usual = rateAt(curve, 365 * group.years);
  if (own === null) return null;
  const isPlausible = usual === null ? own >= leastRate && own <= greatestRate : Math.abs(own - usual) <= rateTolerance;
  return isPlausible ? own : null;
}

/**
 * The rates of a chain's groups, continuous, a fraction per year: of European roots from the group's own pairs, else
 * from those of the nearest expiry that shows one; else, and of American roots, from the reference.
 */
export function groupRates(groups: readonly RatedGroup[], reference: RateReference): number[] {
  const measured: { years: number; rate: number }[] = [];
  const own = groups.map((group) => {
    const rate = reference.rates ? null : measuredRate(group, reference);
    if (rate !== null) measured.push({ years: group.years, rate });
    return rate;
  });
  const nearest = (years: number) => {
    const distance = (each: { years: number }) => Math.abs(each.years - years);
    return measured.reduce<(typeof measured)[number] | null>(
      (best, each) => (best === null || distance(each) < distance(best) ? each : best),
      null,
    );
  };
  return groups.map(({ root, years }, i) => {
    const european = root.style === 'european' ? (own[i] ?? nearest(years)?.rate) : undefined;
    return european ?? referenceRate(reference, years);
  });
}

/** Pricing inputs of a chain besides its own quotes. */
export interface MarketReference extends RateReference {
  /** Dividends of the underlying, ascending by ex-date; absent or empty: none is known. */
  dividends?: readonly Dividend[] | undefined;
}
