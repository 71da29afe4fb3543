import { type Rate, rateAt } from '../../domain/market/rates.ts';
import { methodologySettings } from '../methodology.ts';
import type { ChainGroup } from './chain-groups.ts';
import type { QuotedPair } from './quoted-pairs.ts';

/** A point of an interest rate curve: days to maturity, and the continuous rate, a fraction per year. */
export type CurvePoint = Pick<Rate, 'days' | 'rate'>;

/** A group for which a rate is determined. */
export interface RatedGroup extends Pick<ChainGroup, 'root' | 'expiry' | 'years'> {
  /** All its quoted pairs. */
  pairs: readonly QuotedPair[];
  /** Its money, dollars. */
  centre: number;
}

/** The risk-free rate for pricing a group's contracts, continuous, a fraction per year. */
export type RateSource = (group: RatedGroup) => number;

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

/**
 * The default source of rates: for European roots of at least a tenth of a year the chain itself, if it is within 2% of
 * the curve; else the curve at the group's days; `setting` without one.
 */
export function chainRates(setting: number, curve: readonly CurvePoint[] = []): RateSource {
  const { shortestRateYears, rateTolerance } = methodologySettings;
  return (group) => {
    const usual = rateAt(curve, 365 * group.years) ?? setting;
    if (group.root.style !== 'european' || group.years < shortestRateYears) return usual;
    const own = slopeRate(group);
    return own !== null && Math.abs(own - usual) <= rateTolerance ? own : usual;
  };
}
