import fc from 'fast-check';
import { expect, test } from 'vitest';
import { topStrikes } from '../../../../src/core/analytics/gex/gex-rows.ts';

const top = (gex: number[], count: number) => {
  const kept = topStrikes({ gex: Float64Array.from(gex) }, count);
  return kept && [...kept];
};

test('keeps the largest by size, whatever the sign, in order of strike', () => {
  expect(top([1, -5, 3, 4, -2], 3)).toEqual([1, 2, 3]);
});

test('of equals the lower strikes stay', () => {
  expect(top([2, -2, 1, 2, 2], 2)).toEqual([0, 1]);
  expect(top([0, 0, 0], 1)).toEqual([0]);
});

test('nothing is cut when there are no more than asked for', () => {
  expect(top([1, 2], 2)).toBeNull();
  expect(top([], 1)).toBeNull();
});

test('agrees with sorting all of them', () => {
  const curve = fc.array(fc.oneof(fc.integer({ min: -4, max: 4 }), fc.double({ noNaN: true })), { maxLength: 80 });
  fc.assert(
    fc.property(curve, fc.integer({ min: 1, max: 100 }), (gex, count) => {
      const sorted = gex.map((_, i) => i).sort((a, b) => Math.abs(gex[b]!) - Math.abs(gex[a]!) || a - b);
      const expected = gex.length <= count ? null : sorted.slice(0, count).sort((a, b) => a - b);
      expect(top(gex, count)).toEqual(expected);
    }),
  );
});
