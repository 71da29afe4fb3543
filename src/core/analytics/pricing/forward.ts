import { methodologySettings } from '../methodology.ts';
import { type AmericanInputs, americanYield } from './american.ts';
import { median, pairForward, type QuotedPair } from './quoted-pairs.ts';

/** The forward carried from spot: S·e^{(r−q)T}. */
export function carriedForward(spot: number, rate: number, dividendYield: number, years: number): number {
  return spot * Math.exp((rate - dividendYield) * years);
}

/** The forward price, dollars, by European put–call parity: the median over pairs. NaN without a pair. */
export function parityForward(pairs: readonly QuotedPair[], discount: number): number {
  return median(pairs.map((pair) => pairForward(pair, discount)));
}

/** Inputs for pricing American pairs. */
type AmericanTerms = Pick<AmericanInputs, 'spot' | 'years' | 'rate' | 'dividends'>;

/**
 * The forward price, dollars, of American pairs, nearest the money first: without their early-exercise premiums they
 * obey parity. The median over pairs; NaN unless most of them admit a volatility.
 */
export function americanForward(pairs: readonly QuotedPair[], terms: AmericanTerms): number {
  const { spot, years, rate } = terms;
  const forwards: number[] = [];
  let guess: number | undefined;
  for (const { strike, callMid, putMid } of pairs) {
    const dividendYield = americanYield(callMid, putMid, { ...terms, strike }, guess);
    if (Number.isNaN(dividendYield)) continue;
    guess ??= dividendYield;
    forwards.push(carriedForward(spot, rate, dividendYield, years));
  }
  return 2 * forwards.length > pairs.length ? median(forwards) : Number.NaN;
}

/** A yield clamped to the accepted range, a fraction per year. */
export function boundedYield(dividendYield: number): number {
  const { leastYield, greatestYield } = methodologySettings;
  return Math.min(greatestYield, Math.max(leastYield, dividendYield));
}

/**
 * A yield that quotes show, a fraction per year: as it is if they are certain enough of it, since borrowing a share can
 * cost 30% a year; else clamped. `error` is their uncertainty of it.
 */
export function measuredYield(dividendYield: number, error: number): number {
  return error <= methodologySettings.believedYieldError ? dividendYield : boundedYield(dividendYield);
}
