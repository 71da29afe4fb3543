import { describe, expect, test } from 'vitest';
import { blackScholes, europeanVolatility } from '../../../src/core/analytics/pricing/black-scholes.ts';
import { sharedCsv, sharedText } from '../../support/shared-csv.ts';
import { hasSharedData } from '../../support/shared-data.ts';

/** One line of the Haug tables as inputs. */
function inputsOf(row: Record<string, string>) {
  return {
    right: row.type as 'call' | 'put',
    spot: Number(row.spot),
    strike: Number(row.strike),
    years: Number(row.t),
    rate: Number(row.r),
    dividendYield: Number(row.q),
    volatility: Number(row.vol),
  };
}

describe.skipIf(!hasSharedData)('values published in books and libraries (needs ../shared/data)', () => {
  // Haug, Option Pricing Formulas, as in QuantLib's tests; each line states its tolerance.
  test('Haug: every European value within its tolerance', () => {
    const rows = sharedCsv('option_math/haug_european_values.csv');
    expect(rows.length).toBeGreaterThan(40);
    for (const row of rows) {
      expect(Math.abs(blackScholes(inputsOf(row)).price - Number(row.value)), JSON.stringify(row)).toBeLessThanOrEqual(
        Number(row.tol),
      );
    }
  });

  // The book prints four decimals, so half of the last is the most its rounding hides. Rho is not computed here.
  test('Haug: delta, gamma, vega, theta and elasticity to the four decimals printed', () => {
    const rows = sharedCsv('option_math/haug_european_greeks.csv');
    let checked = 0;
    for (const row of rows) {
      const value = blackScholes(inputsOf(row));
      const known: Record<string, number> = {
        delta: value.delta,
        gamma: value.gamma,
        vega: value.vega,
        theta: value.theta,
        theta_per_day: value.theta / 365,
        elasticity: (value.delta * Number(row.spot)) / value.price,
      };
      if (!(row.greek! in known)) continue;
      checked++;
      expect(Math.abs(known[row.greek!]! - Number(row.value)), row.greek).toBeLessThanOrEqual(0.5001e-4);
    }
    expect(checked).toBe(9);
  });

  // py_vollib prints ten significant digits; its theta here is per year, its vega per 1.00 of volatility.
  test('py_vollib: 101 calls and puts with their greeks, and the volatility back from each price', () => {
    const { columns, data } = JSON.parse(sharedText('option_math/py_vollib_test_data.json')) as {
      columns: string[];
      data: number[][];
    };
    expect(data).toHaveLength(101);
    for (const numbers of data) {
      const row = Object.fromEntries(columns.map((name, i) => [name, numbers[i]!])) as Record<string, number>;
      const base = { spot: row.S!, strike: row.K!, years: row.t!, rate: row.R!, dividendYield: 0, volatility: row.v! };
      for (const [right, price, prefix] of [
        ['call', 'bs_call', 'C'],
        ['put', 'bs_put', 'P'],
      ] as const) {
        const value = blackScholes({ ...base, right });
        const near = (actual: number, expected: number) =>
          expect(Math.abs(actual - expected), `${right} at ${base.spot}`).toBeLessThan(
            1e-8 + 1e-8 * Math.abs(expected),
          );
        near(value.price, row[price]!);
        near(value.delta, row[`${prefix}D`]!);
        near(value.gamma, row[`${prefix}G`]!);
        near(value.theta, row[`${prefix}T`]!);
        near(value.vega, row[`${prefix}V`]!);
        const discount = Math.exp(-base.rate * base.years);
        const implied = europeanVolatility(right, value.price, base.spot / discount, base.strike, base.years, discount);
        // An in-the-money price holds its volatility only in the digits beyond its intrinsic value.
        if (value.vega > 1) expect(implied).toBeCloseTo(base.volatility, 9);
      }
    }
  });
});
