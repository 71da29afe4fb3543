import { describe, expect, test } from 'vitest';
import { gex } from '../../../../src/core/analytics/gex/exposure.ts';
import {
  flipPoint,
  gammaProfile,
  type RepricedPosition,
  zeroGamma,
} from '../../../../src/core/analytics/gex/flip-point.ts';
import { blackScholes } from '../../../../src/core/analytics/pricing/black-scholes.ts';
import { profileCrossing } from '../../../support/profile-crossing.ts';

function position(right: 'call' | 'put', strike: number, openInterest: number, volatility: number): RepricedPosition {
  return { right, strike, openInterest, volatility, multiplier: 100, years: 7 / 365, rate: 0.045, dividendYield: 0 };
}

const book = [
  position('put', 580, 6000, 0.22),
  position('put', 590, 9000, 0.19),
  position('put', 600, 5000, 0.16),
  position('call', 600, 4000, 0.16),
  position('call', 610, 7000, 0.15),
  position('call', 620, 3000, 0.145),
];

describe('zero gamma', () => {
  test('is not the flip point: the worked book has one and not the other', () => {
    const rows = new Map<number, number>();
    for (const each of book) {
      const value = gex({ ...each, gamma: blackScholes({ ...each, spot: 602 }).gamma }, 602);
      rows.set(each.strike, (rows.get(each.strike) ?? 0) + value);
    }
    const curve = [...rows].map(([strike, value]) => ({ strike: strike * 1000, gex: value }));
    expect(curve.reduce((sum, row) => sum + row.gex, 0)).toBeCloseTo(-1_580_826.62, 2);
    expect(flipPoint(curve, 602)).toBeNull();
    expect(zeroGamma(book, 602)).toBeCloseTo(603.0226, 4);
  });

  test('the straight line between two levels of the profile comes near it', () => {
    const profile = gammaProfile(book, 602);
    expect(profile.levels).toHaveLength(60);
    expect(profile.levels[0]).toBeCloseTo(481.6, 9);
    expect(profile.levels[59]).toBeCloseTo(722.4, 9);
    expect(Math.abs(profileCrossing(profile, 602)! - zeroGamma(book, 602)!)).toBeLessThan(0.05);
  });

  test('the profile at a level is the net gex per 1% computed at that price', () => {
    const { levels, gexPerPercent } = gammaProfile(book, 602);
    for (const i of [10, 29, 45]) {
      const spot = levels[i]!;
      const expected = book.reduce((sum, each) => {
        const { gamma } = blackScholes({ ...each, spot });
        return sum + gex({ ...each, gamma }, spot) * 0.01 * spot;
      }, 0);
      expect(gexPerPercent[i]! / expected).toBeCloseTo(1, 10);
    }
  });

  test('a book of calls alone has none', () => {
    expect(
      zeroGamma(
        book.filter(({ right }) => right === 'call'),
        602,
      ),
    ).toBeNull();
    expect(zeroGamma([], 602)).toBeNull();
  });
});
