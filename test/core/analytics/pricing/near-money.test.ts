import { describe, expect, test } from 'vitest';
import { centreOf, pairsNearMoney } from '../../../../src/core/analytics/pricing/quoted-pairs.ts';

/** Pairs whose K + C − P is `price`, with straddles of at least `straddle`. */
function pairsAround(price: number, straddle: number, strikes: readonly number[]) {
  return strikes.map((strike) => {
    const [callMid, putMid] = [straddle / 2 + Math.max(0, price - strike), straddle / 2 + Math.max(0, strike - price)];
    return { strike, callMid, putMid, halfSpread: 0.02 };
  });
}

const listed = (strikes: readonly number[]) => ({
  strikes: strikes.map((dollars) => ({ strike: 1000 * dollars, dollars, call: -1, put: -1 })),
});
const near = (price: number, straddle: number, strikes: readonly number[]) =>
  pairsNearMoney(listed(strikes), pairsAround(price, straddle, strikes), price).map(({ strike }) => strike);

describe('near the money', () => {
  test('is 3 % of it where strikes are close', () => {
    expect(near(100, 0.5, [96.9, 97, 100, 101, 103, 103.1])).toEqual([100, 101, 97, 103]);
  });

  test('is two and a half gaps where strikes are far apart: an $11 share with strikes every $0.50 has pairs', () => {
    expect(near(11.4, 0.1, [10, 10.5, 11, 11.5, 12, 12.5])).toEqual([11.5, 11, 12, 10.5, 12.5]);
    expect(near(11.4, 0.1, [9, 10, 11.4, 14])).toEqual([11.4, 10, 9, 14]);
  });

  test('is one standard deviation by the straddle where the price may go far', () => {
    // 1.2533 straddles of 12 are 15.04.
    expect(near(100, 12, [84, 85, 100, 100.5, 115, 116])).toEqual([100, 100.5, 85, 115]);
  });

  test('is around what the nearest pair implies when that is over 3 % from the price of the source', () => {
    const strikes = [10, 10.5, 11, 11.5, 12, 12.5];
    expect(centreOf(pairsAround(11.4, 0.1, strikes), 11.8)).toBeCloseTo(11.4, 12);
    expect(centreOf(pairsAround(11.4, 0.1, strikes), 11.7)).toBe(11.7);
    expect(centreOf([], 11.7)).toBe(11.7);
    expect(centreOf([{ strike: 10, callMid: 0, putMid: 12, halfSpread: 1 }], 11.7)).toBe(11.7);
  });
});
