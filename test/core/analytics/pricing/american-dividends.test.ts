import { describe, expect, test } from 'vitest';
import {
  americanPrice,
  americanValue,
  americanVega,
  americanVolatility,
  americanYield,
} from '../../../../src/core/analytics/pricing/american.ts';
import { presentDividends } from '../../../../src/core/analytics/pricing/cash-dividends.ts';
import { isWithinBounds } from '../../../../src/core/analytics/pricing/smile.ts';
import type { OptionRight } from '../../../../src/core/domain/chain/option-contract.ts';
import { type DividendOption, escrowedTreePrice } from '../escrowed-tree.ts';

const rights = ['call', 'put'] as const;
const strikes = [90, 94, 97, 99, 100, 101, 103, 106, 110];

/** The project's inputs of a reference's option: the price less the dividend, and the dividend beside it. */
function inputsOf({ dividend, exYears, ...option }: DividendOption) {
  const dividends = [{ years: exYears, amount: dividend }];
  return { ...option, spot: option.spot - presentDividends(dividends, option.rate), dividends };
}

const common = { spot: 100, rate: 0.05 };
const shares: [name: string, share: Omit<DividendOption, 'right' | 'strike'>][] = [
  [
    'an hour before the ex-date',
    { ...common, years: 1.1 / 365, exYears: 0.05 / 365, dividend: 0.35, volatility: 0.12, dividendYield: 0 },
  ],
  [
    'ten days before it',
    { ...common, years: 30 / 365, exYears: 10 / 365, dividend: 0.5, volatility: 0.2, dividendYield: 0 },
  ],
  [
    'with a yield beside it',
    { ...common, years: 0.5, exYears: 0.1, dividend: 1, volatility: 0.3, dividendYield: 0.02 },
  ],
  ['with a negative yield', { ...common, years: 1, exYears: 0.7, dividend: 1, volatility: 0.2, dividendYield: -0.01 }],
];

describe.each(shares)('an American option %s', (_name, share) => {
  test.each(rights)('%s: its price is that of another tree', (right) => {
    for (const strike of strikes) {
      const option: DividendOption = { ...share, right, strike };
      const reference = 0.5 * (escrowedTreePrice(option, 300) + escrowedTreePrice(option, 301));
      expect(Math.abs(americanPrice(inputsOf(option)) - reference), `${strike}`).toBeLessThan(0.015);
    }
  });

  test.each(rights)('%s: its price gives its volatility back, unless it is worth exercising at once', (right) => {
    for (const strike of strikes) {
      const inputs = inputsOf({ ...share, right, strike });
      const price = americanPrice(inputs);
      const exercised = (right === 'call' ? 1 : -1) * (share.spot - strike);
      const { volatility, ...option } = inputs;
      if (price <= exercised + 1e-9) expect(americanVolatility(price, option)).toBeNaN();
      else if (americanVega(inputs) > 0.5) expect(americanVolatility(price, option)).toBeCloseTo(volatility, 4);
    }
  });
});

test('a call in the money is exercised on the eve of an ex-date: worth what it brings with the dividend, gamma 0', () => {
  const option = { ...common, right: 'call' as OptionRight, strike: 95, years: 2 / 365, exYears: 0, dividend: 0.5 };
  const inputs = inputsOf({ ...option, volatility: 0.15, dividendYield: 0 });
  expect(americanValue(inputs)).toEqual({ price: expect.closeTo(5, 9), delta: 1, gamma: 0, theta: 0 });
  expect(americanVolatility(5, inputs)).toBeNaN();
  expect(americanValue({ ...inputs, volatility: 0 }).price).toBeCloseTo(5, 9);
  // After the ex-date nobody would: without the dividend it is worth more alive.
  expect(americanPrice({ ...inputs, dividends: [] })).toBeGreaterThan(4.5 + 95 * 0.05 * (1.9 / 365));
});

test('what exercise brings before an ex-date bounds a price: the mid of a call under it tells no volatility', () => {
  const market = { spot: 99.5, rate: 0.05, dividendYield: 0, dividends: [{ years: 0, amount: 0.5 }] };
  const call = { ...market, right: 'call' as const, strike: 95, years: 2 / 365, american: true };
  expect(isWithinBounds(call, 4.99)).toBe(false);
  expect(isWithinBounds(call, 5.01)).toBe(true);
  expect(isWithinBounds({ ...call, american: false }, 4.99)).toBe(true);
});

test('call and put beside a known dividend give the yield beyond it', () => {
  const share = { ...common, strike: 101, years: 60 / 365, exYears: 20 / 365, dividend: 0.6, volatility: 0.25 };
  const inputs = inputsOf({ ...share, right: 'call', dividendYield: 0.01 });
  const [call, put] = rights.map((right) => americanPrice({ ...inputs, right }));
  expect(americanYield(call!, put!, inputs)).toBeCloseTo(0.01, 5);
  // As a yield alone the dividend is 3.7 % a year more.
  const undivided = { ...inputs, spot: share.spot, dividends: [] };
  expect(americanYield(call!, put!, undivided)).toBeGreaterThan(0.04);
});
