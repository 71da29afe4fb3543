import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { erfcx, normalCdf, normalPdf } from '../../../../src/core/analytics/pricing/black-scholes.ts';

// Computed with 40 decimal digits (mpmath 1.3).
const cdfs: [number, number][] = [
  [-37, 5.725571222524577e-300],
  [-20, 2.7536241186062337e-89],
  [-8, 6.220960574271784e-16],
  [-1.96, 0.024997895148220435],
  [-0.3, 0.3820885778110474],
  [0, 0.5],
  [0.5, 0.6914624612740131],
  [1, 0.8413447460685429],
  [3, 0.9986501019683699],
];
const erfcxs: [number, number][] = [
  [-5, 144009798674.66104],
  [-0.4, 1.6762339566888589],
  [0, 1],
  [0.3, 0.7345993345676551],
  [1, 0.427583576155807],
  [4, 0.13699945762506138],
  [30, 0.01879588886141675],
];

describe('the normal distribution', () => {
  test.each(cdfs)('N(%d) keeps its relative accuracy, tails too', (x, expected) => {
    expect(Math.abs(normalCdf(x) / expected - 1)).toBeLessThan(5e-14);
  });

  test.each(erfcxs)('erfcx(%d)', (x, expected) => {
    expect(Math.abs(erfcx(x) / expected - 1)).toBeLessThan(5e-15);
  });

  test('is symmetric, rises, and its slope is the density', () => {
    fc.assert(
      fc.property(fc.double({ min: -6, max: 6, noNaN: true }), (x) => {
        expect(normalCdf(x) + normalCdf(-x)).toBeCloseTo(1, 15);
        const step = 1e-5;
        expect((normalCdf(x + step) - normalCdf(x - step)) / (2 * step)).toBeCloseTo(normalPdf(x), 9);
      }),
    );
  });
});
