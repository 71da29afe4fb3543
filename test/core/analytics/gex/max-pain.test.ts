import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maxPain, type StrikeInterest } from '../../../../src/core/analytics/gex/levels.ts';

/** Payout to holders if the price settles at `price`, thousandths × contracts. */
function payout(rows: readonly StrikeInterest[], price: number): number {
  return rows.reduce(
    (sum, { strike, calls, puts }) => sum + calls * Math.max(0, price - strike) + puts * Math.max(0, strike - price),
    0,
  );
}

describe('max pain', () => {
  test('the worked expiry', () => {
    const rows = [
      { strike: 95_000, calls: 10, puts: 50 },
      { strike: 100_000, calls: 40, puts: 40 },
      { strike: 105_000, calls: 60, puts: 5 },
    ];
    expect(maxPain(rows)).toBe(100_000);
  });

  test('none without open interest', () => {
    expect(maxPain([])).toBeNull();
    expect(maxPain([{ strike: 95_000, calls: 0, puts: 0 }])).toBeNull();
  });

  test('no strike pays holders less, and no lower one as little', () => {
    const row = fc.record({ gap: fc.integer({ min: 1, max: 50 }), calls: fc.nat(500), puts: fc.nat(500) });
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 20 }), (drawn) => {
        let strike = 0;
        const rows = drawn.map(({ gap, calls, puts }) => {
          strike += gap * 500;
          return { strike, calls, puts };
        });
        const found = maxPain(rows);
        if (found === null) {
          expect(rows.every(({ calls, puts }) => calls + puts === 0)).toBe(true);
          return;
        }
        const payouts = rows.map((each) => payout(rows, each.strike));
        expect(found).toBe(rows[payouts.indexOf(Math.min(...payouts))]!.strike);
      }),
    );
  });
});
