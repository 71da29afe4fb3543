import { methodologySettings } from '../methodology.ts';

/** A strike whose call and put both have a two-sided quote. Dollars. */
export interface QuotedPair {
  strike: number;
  callMid: number;
  putMid: number;
}

/** The pairs nearest to `spot`, nearest first; of two as near the lower strike. */
export function nearestPairs<Pair extends QuotedPair>(pairs: readonly Pair[], spot: number): Pair[] {
  return [...pairs]
    .sort((a, b) => Math.abs(a.strike - spot) - Math.abs(b.strike - spot) || a.strike - b.strike)
    .slice(0, methodologySettings.forwardStrikes);
}

/**
 * The forward price, dollars, that European put–call parity gives: the median over the five pairs nearest the money of
 * K + (C − P)/discount, `discount` = e^{−rT}. Null without a pair.
 */
export function parityForward(pairs: readonly QuotedPair[], spot: number, discount: number): number | null {
  const forwards = nearestPairs(pairs, spot).map(
    ({ strike, callMid, putMid }) => strike + (callMid - putMid) / discount,
  );
  if (forwards.length === 0) return null;
  forwards.sort((a, b) => a - b);
  const middle = forwards.length >> 1;
  return forwards.length % 2 === 1 ? forwards[middle]! : 0.5 * (forwards[middle - 1]! + forwards[middle]!);
}

/** The forward carried from spot: S·e^{(r−q)T}. */
export function carriedForward(spot: number, rate: number, dividendYield: number, years: number): number {
  return spot * Math.exp((rate - dividendYield) * years);
}
