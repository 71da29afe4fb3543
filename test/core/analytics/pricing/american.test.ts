import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  americanPrice,
  americanValue,
  americanVega,
  americanVolatility,
  americanYield,
} from '../../../../src/core/analytics/pricing/american.ts';
import { blackScholes, type OptionInputs } from '../../../../src/core/analytics/pricing/black-scholes.ts';
import { sharedCsv } from '../../../support/shared-csv.ts';
import { hasSharedData } from '../../../support/shared-data.ts';

const put: OptionInputs = {
  right: 'put',
  spot: 36,
  strike: 40,
  years: 1,
  rate: 0.06,
  dividendYield: 0,
  volatility: 0.2,
};

const options = fc.record({
  right: fc.constantFrom('call', 'put'),
  spot: fc.constant(600),
  strike: fc.double({ min: 480, max: 720, noNaN: true }),
  years: fc.double({ min: 0.01, max: 2, noNaN: true }),
  rate: fc.double({ min: 0, max: 0.08, noNaN: true }),
  dividendYield: fc.double({ min: -0.02, max: 0.08, noNaN: true }),
  volatility: fc.double({ min: 0.08, max: 0.9, noNaN: true }),
}) as fc.Arbitrary<OptionInputs>;

/** A Cox–Ross–Rubinstein tree of many steps, the mean of an even and an odd one: slow, simple and independent. */
function slowPrice(option: OptionInputs, steps = 1500): number {
  return 0.5 * (crr(option, steps) + crr(option, steps + 1));
}

function crr({ right, spot, strike, years, rate, dividendYield, volatility }: OptionInputs, steps: number): number {
  const dt = years / steps;
  const up = Math.exp(volatility * Math.sqrt(dt));
  const p = (Math.exp((rate - dividendYield) * dt) - 1 / up) / (up - 1 / up);
  const discount = Math.exp(-rate * dt);
  const sign = right === 'call' ? 1 : -1;
  const exercise = (level: number, ups: number) => sign * (spot * up ** (2 * ups - level) - strike);
  const values = Array.from({ length: steps + 1 }, (_, j) => Math.max(0, exercise(steps, j)));
  for (let level = steps - 1; level >= 0; level--) {
    for (let j = 0; j <= level; j++) {
      values[j] = Math.max(discount * (p * values[j + 1]! + (1 - p) * values[j]!), exercise(level, j));
    }
  }
  return values[0]!;
}

describe('American options', () => {
  test('the worked put is worth 4.4867', () => {
    // 0.0004 is what the extrapolated trees of 51 and 101 steps leave; one tree of 101 alone is 0.0048 low.
    expect(Math.abs(americanPrice(put) - 4.4867)).toBeLessThan(0.0005);
  });

  test.each([
    { ...put, strike: 38 },
    { ...put, right: 'call', dividendYield: 0.09, strike: 34 },
    { ...put, spot: 600, strike: 580, years: 0.3, rate: 0.045, dividendYield: 0.012, volatility: 0.15 },
    { ...put, spot: 600, strike: 640, years: 0.1, rate: 0.045, dividendYield: 0.012, volatility: 0.15 },
    { ...put, right: 'call', spot: 600, strike: 600, years: 1, rate: 0.03, dividendYield: 0.08 },
    { ...put, spot: 600, strike: 600, years: 2, rate: 0.045, dividendYield: 0.012 },
  ] as OptionInputs[])('agree with a slow independent tree to 0.02% of spot: $right $strike $years', (option) => {
    expect(Math.abs(americanPrice(option) - slowPrice(option)) / option.spot).toBeLessThan(2e-4);
  });

  test('a call that is never exercised is worth no less than its exercise, to the last bit', () => {
    const years = 0.041135768806269526;
    const call: OptionInputs = { ...put, right: 'call', spot: 600, strike: 504.1280825540654, years, rate: 0 };
    expect(americanPrice({ ...call, volatility: 0.10364773461275978 })).toBeGreaterThanOrEqual(600 - call.strike);
  });

  test('are worth at least the European price and what exercise brings, and no more than their bound', () => {
    fc.assert(
      fc.property(options, (option) => {
        const price = americanPrice(option);
        const sign = option.right === 'call' ? 1 : -1;
        expect(price).toBeGreaterThanOrEqual(blackScholes(option).price - 1e-9);
        expect(price).toBeGreaterThanOrEqual(sign * (option.spot - option.strike));
        expect(price).toBeLessThanOrEqual(option.right === 'call' ? option.spot : option.strike);
      }),
    );
  });

  test('|Δ| ≤ 1 with the right sign, Γ ≥ 0, and an option better exercised moves with the stock', () => {
    fc.assert(
      fc.property(options, (option) => {
        const { delta, gamma } = americanValue(option);
        const size = option.right === 'call' ? delta : -delta;
        expect(size).toBeGreaterThanOrEqual(0);
        // A negative yield makes a share later worth more than one now.
        expect(size).toBeLessThanOrEqual(Math.max(1, Math.exp(-option.dividendYield * option.years)));
        expect(gamma).toBeGreaterThanOrEqual(0);
      }),
    );
    expect(americanValue({ ...put, spot: 25 })).toEqual({ price: 15, delta: -1, gamma: 0, theta: 0 });
  });

  test('price and value are one number at every volatility, 0 included, which is the limit of small ones', () => {
    fc.assert(
      fc.property(options, fc.constantFrom(0, 1e-3, 0.02, 0.3), (option, volatility) => {
        const inputs = { ...option, volatility };
        const price = americanPrice(inputs);
        expect(Math.abs(americanValue(inputs).price - price)).toBeLessThanOrEqual(1e-9 * option.spot);
        if (volatility === 0)
          expect(Math.abs(americanPrice({ ...option, volatility: 1e-4 }) - price)).toBeLessThan(0.05);
      }),
    );
    expect(americanVega({ ...put, volatility: 0 })).toBe(0);
  });

  test('without volatility it is exercised at the best instant, also between now and expiry', () => {
    const call: OptionInputs = {
      right: 'call',
      spot: 110,
      strike: 100,
      years: 5,
      rate: 0.08,
      dividendYield: 0.07,
      volatility: 0,
    };
    const worthAt = (years: number) => 110 * Math.exp(-0.07 * years) - 100 * Math.exp(-0.08 * years);
    // The interest on the strike is the dividends' worth after ln(rK/(qS))/(r − q) years, 3.82.
    const between = Math.log(8 / 7.7) / 0.01;
    expect(americanPrice(call)).toBeCloseTo(worthAt(between), 9);
    expect(americanPrice({ ...call, years: 3 })).toBeCloseTo(worthAt(3), 9);
    expect(americanValue(call)).toMatchObject({ gamma: 0, theta: 0 });
    expect(americanValue(call).delta).toBeCloseTo(Math.exp(-0.07 * between), 12);
    // Deep in the money a dividend is worth more than the interest on the strike.
    expect(americanValue({ ...call, spot: 150 })).toEqual({ price: 50, delta: 1, gamma: 0, theta: 0 });
    expect(americanPrice({ ...put, volatility: 0 })).toBe(4);
  });

  test('a call that pays for waiting is the European one, greeks and all', () => {
    const call: OptionInputs = { ...put, right: 'call' };
    const { price, delta, gamma, theta } = blackScholes(call);
    expect(americanValue(call)).toMatchObject({ price, delta, gamma, theta });
    expect(americanVega(call)).toBe(blackScholes(call).vega);
  });

  test('delta, theta and vega are the slopes of the price, to 1% of their scale', () => {
    const option: OptionInputs = { ...put, spot: 600, strike: 610, years: 0.5, rate: 0.045, dividendYield: 0.012 };
    const { delta, theta } = americanValue(option);
    const bump = (by: keyof OptionInputs, step: number) => {
      const value = option[by] as number;
      const [up, down] = [
        americanPrice({ ...option, [by]: value + step }),
        americanPrice({ ...option, [by]: value - step }),
      ];
      return (up - down) / (2 * step);
    };
    expect(Math.abs(bump('spot', 3) - delta)).toBeLessThan(0.01);
    expect(Math.abs(-bump('years', 0.02) / theta - 1)).toBeLessThan(0.01);
    expect(Math.abs(bump('volatility', 0.01) / americanVega(option) - 1)).toBeLessThan(0.01);
  });

  test('price → volatility → price to 1e-6 of volatility', () => {
    fc.assert(
      fc.property(options, (option) => {
        const price = americanPrice(option);
        const { vega } = blackScholes(option);
        const sign = option.right === 'call' ? 1 : -1;
        // Prices that are nearly their intrinsic value hold no volatility.
        fc.pre(price > Math.max(0, sign * (option.spot - option.strike)) + 0.01 && vega > 1);
        const implied = americanVolatility(price, option);
        expect(Math.abs(implied - option.volatility)).toBeLessThan(1e-5);
      }),
      { numRuns: 200 },
    );
  });

  test('no volatility is implied by a price at its intrinsic value or above its bound', () => {
    expect(americanVolatility(4, put)).toBeNaN();
    expect(americanVolatility(40, put)).toBeNaN();
    expect(americanVolatility(Number.NaN, put)).toBeNaN();
  });

  test('the yield at which call and put agree is the one they were priced with', () => {
    for (const dividendYield of [-0.03, 0, 0.012, 0.08]) {
      const market = { spot: 600, strike: 605, years: 0.7, rate: 0.045, dividendYield, volatility: 0.2 };
      const [call, other] = [americanPrice({ ...market, right: 'call' }), americanPrice({ ...market, right: 'put' })];
      const found = americanYield(call, other, market);
      expect(found).toBeCloseTo(dividendYield, 8);
      const implied = (['call', 'put'] as const).map((right) =>
        americanVolatility(right === 'call' ? call : other, { ...market, right, dividendYield: found }),
      );
      expect(implied[0]).toBeCloseTo(implied[1]!, 5);
    }
    expect(americanYield(Number.NaN, 3, put)).toBeNaN();
  });
});

describe.skipIf(!hasSharedData)('American values published by approximation (needs ../shared/data)', () => {
  const inputsOf = (row: Record<string, string>): OptionInputs => ({
    right: row.type as 'call' | 'put',
    spot: Number(row.spot),
    strike: Number(row.strike),
    years: Number(row.t),
    rate: Number(row.r),
    dividendYield: Number(row.q),
    volatility: Number(row.vol),
  });

  // Barone-Adesi and Whaley's quadratic approximation is itself up to 0.04 high at the money on half-year futures
  // options of strike 100 (a tree of 8,000 steps gives 9.4738 for the 9.5106 of σ = 0.35): 0.04 is that error, not the
  // tree's.
  test('Barone-Adesi–Whaley: within 0.04 on a strike of 100, never under the printed value by more, exact where exercised', () => {
    const rows = sharedCsv('option_math/haug_american_baw.csv');
    expect(rows.length).toBeGreaterThan(36);
    for (const row of rows) {
      const difference = americanPrice(inputsOf(row)) - Number(row.value);
      expect(Math.abs(difference), JSON.stringify(row)).toBeLessThan(0.04);
      // Short options, where the approximation is good: a quarter of that.
      if (Number(row.t) <= 0.1) expect(Math.abs(difference), JSON.stringify(row)).toBeLessThan(0.01);
    }
  });

  // Bjerksund and Stensland's value is that of one exercise strategy, so a lower bound of the true one: 0.04 under it
  // for the usual cases; for σ = 10 it all but gives up early exercise (95.12, the European value, where the bound is
  // 100).
  test('Bjerksund–Stensland: never above ours, within 0.04 of it but for the volatility of 1000%', () => {
    for (const row of sharedCsv('option_math/haug_american_bjerksund_stensland.csv')) {
      const option = inputsOf(row);
      const difference = americanPrice(option) - Number(row.value);
      expect(difference, JSON.stringify(row)).toBeGreaterThan(-5e-5);
      expect(difference, JSON.stringify(row)).toBeLessThan(option.volatility > 5 ? 5 : 0.04);
    }
  });
});
