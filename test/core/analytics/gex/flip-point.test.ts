import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { flipPoint } from '../../../../src/core/analytics/gex/flip-point.ts';

/** A curve of strikes 10 dollars apart from `from`. */
function curve(from: number, values: readonly number[]) {
  return values.map((gex, i) => ({ strike: (from + 10 * i) * 1000, gex }));
}

describe('flip point', () => {
  test.each([
    ['between two strikes, by the share of each side', [-100, -50, 120, 200], 601.5],
    ['at a strike where the sum is exactly zero', [-100, -50, 150, 200], 600],
    ['none when the sum never changes sign', [-100, 50, -20, -1], null],
    ['of several the nearest to spot', [-10, 30, -40, 50, 5], 604],
    ['none on an empty curve', [], null],
    ['none when leaving the initial zero only', [0, 0, 50, 20], null],
    ['none when the sum touches zero and turns back', [-50, 50, -20, -1], null],
  ] as const)('%s', (_name, values, expected) => {
    const found = flipPoint(curve(580, values), 602);
    if (expected === null) expect(found).toBeNull();
    else expect(found).toBeCloseTo(expected, 9);
  });

  test('of two as near the lower', () => {
    // Crossings at 585 and 595.
    expect(flipPoint(curve(580, [-50, 100, -100]), 590)).toBe(585);
  });

  test('what cancelling doubles leave behind is zero', () => {
    expect(flipPoint(curve(580, [-0.1, -0.2, 0.3, 5]), 602)).toBe(600);
  });

  test('scaling the curve leaves it where it is; it lies within the strikes', () => {
    const rows = fc.array(fc.integer({ min: -1000, max: 1000 }), { minLength: 2, maxLength: 30 });
    fc.assert(
      fc.property(rows, fc.double({ min: 1e-6, max: 1e6, noNaN: true }), (values, factor) => {
        const plain = flipPoint(curve(580, values), 650);
        const scaled = flipPoint(
          curve(
            580,
            values.map((value) => value * factor),
          ),
          650,
        );
        if (plain === null) {
          expect(scaled).toBeNull();
          return;
        }
        expect(scaled).toBeCloseTo(plain, 6);
        expect(plain).toBeGreaterThanOrEqual(580);
        expect(plain).toBeLessThanOrEqual(580 + 10 * (values.length - 1));
      }),
    );
  });
});
