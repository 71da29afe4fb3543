import { methodologySettings } from '../methodology.ts';
import { type AmericanInputs, americanYield } from './american.ts';
import { median, pairForward, type QuotedPair } from './quoted-pairs.ts';

/** The forward carried from spot: S·e^{(r−q)T}. */
export function carriedForward(spot: number, rate: number, dividendYield: number, years: number): number {
  return spot * Math.exp((rate - dividendYield) * years);
}

/** The forward price, dollars, that European put–call parity gives: the median over pairs. NaN without a pair. */
export function parityForward(pairs: readonly QuotedPair[], discount: number): number {
  return median(pairs.map((pair) => pairForward(pair, discount)));
}

/** Inputs that American pairs are priced with. */
type AmericanTerms = Pick<AmericanInputs, 'spot' | 'years' | 'rate' | 'dividends'>;

/**
 * The forward price, dollars, of American pairs, nearest the money first: their early-exercise premiums taken off, what
 * is left obeys parity. The median over pairs; NaN unless most of them admit a volatility.
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

/** A yield within what is taken for one, a fraction a year. */
export function boundedYield(dividendYield: number): number {
  const { leastYield, greatestYield } = methodologySettings;
  return Math.min(greatestYield, Math.max(leastYield, dividendYield));
}
