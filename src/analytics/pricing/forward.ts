import { methodologySettings } from '../methodology.ts';
import { americanYield } from './american.ts';
import { median, pairForward, type QuotedPair } from './quoted-pairs.ts';

/** The forward carried from spot: S·e^{(r−q)T}. */
export function carriedForward(spot: number, rate: number, dividendYield: number, years: number): number {
  return spot * Math.exp((rate - dividendYield) * years);
}

/** The forward price, dollars, that European put–call parity gives: the median over pairs. NaN without a pair. */
export function parityForward(pairs: readonly QuotedPair[], discount: number): number {
  return median(pairs.map((pair) => pairForward(pair, discount)));
}

/**
 * The forward price, dollars, of American pairs, nearest the money first: their early-exercise premiums taken off, what
 * is left obeys parity. The median over pairs; NaN when none admits a volatility. Under a day there is no premium.
 */
export function americanForward(
  pairs: readonly QuotedPair[],
  { spot, years, rate }: { spot: number; years: number; rate: number },
): number {
  if (years < methodologySettings.shortestYieldYears) return parityForward(pairs, Math.exp(-rate * years));
  const forwards: number[] = [];
  let guess: number | undefined;
  for (const { strike, callMid, putMid } of pairs) {
    const dividendYield = americanYield(callMid, putMid, { spot, strike, years, rate }, guess);
    if (Number.isNaN(dividendYield)) continue;
    guess ??= dividendYield;
    forwards.push(carriedForward(spot, rate, dividendYield, years));
  }
  return median(forwards);
}

/** A yield within what is taken for one, a fraction a year. */
export function boundedYield(dividendYield: number): number {
  const { leastYield, greatestYield } = methodologySettings;
  return Math.min(greatestYield, Math.max(leastYield, dividendYield));
}
