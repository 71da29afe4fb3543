import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { volatilityRank } from '../../../../src/core/analytics/volatility.ts';

const upTo = (count: number, from = 1) => Array.from({ length: count }, (_, i) => (from + i) / 1000);

describe('the rank of a volatility', () => {
  test('is where it lies between the least and the most of its days, its percentile the share of lower days', () => {
    // Sixty days: .001 … .059 and today .030, of which 29 days are lower.
    expect(volatilityRank([...upTo(59), 0.03])).toEqual({
      rank: expect.closeTo((100 * 29) / 58, 10),
      percentile: expect.closeTo((100 * 29) / 60, 10),
      days: 60,
    });
  });

  test('needs sixty days, and a difference between them', () => {
    expect(volatilityRank(upTo(59))).toBeNull();
    expect(volatilityRank(Array.from({ length: 60 }, () => 0.2))).toEqual({ rank: null, percentile: 0, days: 60 });
  });

  test('looks at the last 252 days alone', () => {
    const found = volatilityRank([9, ...upTo(252)]);
    expect(found).toEqual({ rank: 100, percentile: expect.closeTo((100 * 251) / 252, 10), days: 252 });
  });

  test('is 0 at the least and 100 at the most, and between them otherwise', () => {
    const days = fc.array(fc.double({ min: 0.01, max: 3, noNaN: true }), { minLength: 60, maxLength: 300 });
    fc.assert(
      fc.property(days, (values) => {
        const recent = values.slice(-252);
        const { rank, percentile } = volatilityRank(values)!;
        const today = recent.at(-1)!;
        const sorted = recent.toSorted((a, b) => a - b);
        if (rank !== null) {
          expect(rank >= 0 && rank <= 100).toBe(true);
          expect(rank === 0).toBe(today === sorted[0]);
          expect(rank === 100).toBe(today === sorted.at(-1));
        }
        expect(percentile).toBeCloseTo((100 * sorted.indexOf(today)) / recent.length, 9);
      }),
    );
  });
});
