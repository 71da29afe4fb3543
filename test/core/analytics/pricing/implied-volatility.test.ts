import { readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { blackScholes, europeanVolatility } from '../../../../src/core/analytics/pricing/black-scholes.ts';

const reference = JSON.parse(readFileSync(path.join(import.meta.dirname, 'black-prices-60-digits.json'), 'utf8')) as {
  rows: ['call' | 'put', number, number, number][];
};

describe('European implied volatility', () => {
  test('is right to 1e-10 wherever σ√T is in [0.005, 5] and |ln(F/K)| ≤ 2, short and long lives alike', () => {
    expect(reference.rows.length).toBeGreaterThan(250);
    for (const years of [1 / 365, 0.25, 1, 5]) {
      for (const [right, strike, deviation, price] of reference.rows) {
        const expected = deviation / Math.sqrt(years);
        if (expected > 19) continue; // outside the bracket by design
        const implied = europeanVolatility(right, price, 100, strike, years, 1);
        expect(Math.abs(implied / expected - 1), `${right} ${strike} ${deviation} ${years}`).toBeLessThan(1e-10);
      }
    }
  });

  test('price → volatility → price is within 1e-9 of spot, in the money too', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('call', 'put'),
        fc.double({ min: -2, max: 2, noNaN: true }),
        fc.double({ min: 0.005, max: 5, noNaN: true }),
        fc.double({ min: 0.001, max: 5, noNaN: true }),
        fc.double({ min: -0.02, max: 0.1, noNaN: true }),
        (right, logMoneyness, deviation, years, rate) => {
          const strike = 600 * Math.exp(logMoneyness);
          // On a forward of 600: Black-76.
          const option = { right, spot: 600, strike, years, rate, dividendYield: rate } as const;
          const volatility = deviation / Math.sqrt(years);
          fc.pre(volatility < 20);
          const price = blackScholes({ ...option, volatility }).price;
          const implied = europeanVolatility(right, price, 600, option.strike, years, Math.exp(-rate * years));
          // Time value below the price's own last digit holds no volatility.
          if (Number.isNaN(implied)) return;
          expect(Math.abs(blackScholes({ ...option, volatility: implied }).price - price)).toBeLessThan(600e-9);
        },
      ),
      { numRuns: 500 },
    );
  });

  test.each([
    ['a price at the lower bound', 'call', 20, 120],
    ['a price below it', 'call', 19, 120],
    ['a price at the upper bound', 'call', 100, 100],
    ['a put worth its strike', 'put', 80, 100],
    ['a price of zero', 'put', 0, 100],
    ['an unknown price', 'put', Number.NaN, 100],
  ] as const)('%s implies none', (_name, right, price, forward) => {
    const strike = right === 'put' ? 80 : 100;
    expect(europeanVolatility(right, price, forward, strike, 0.5, 1)).toBeNaN();
  });

  test('no time left implies none', () => {
    expect(europeanVolatility('call', 5, 100, 100, 0, 1)).toBeNaN();
  });
});
