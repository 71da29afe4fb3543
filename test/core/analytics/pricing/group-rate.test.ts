import { describe, expect, test } from 'vitest';
import { solveChain } from '../../../../src/core/analytics/chain/solve-chain.ts';
import { groupRates, type RateReference, slopeRate } from '../../../../src/core/analytics/pricing/group-rate.ts';
import { standardRoots } from '../../../../src/core/domain/chain/option-root.ts';
import { market, pricedChain } from '../priced-chain.ts';

/** Pairs of a European expiry at a rate, whose C − P is e^{−rT}·(F − K). */
function pairsAt(rate: number, years: number, strikes: readonly number[], forward = 610) {
  return strikes.map((strike) => {
    const difference = Math.exp(-rate * years) * (forward - strike);
    return { strike, callMid: 50 + difference, putMid: 50, halfSpread: 0.1 };
  });
}

const strikes = Array.from({ length: 12 }, (_, i) => 570 + 5 * i);
const group = (rate: number, years = 0.5, name = 'SPX') => ({
  root: standardRoots.of(name),
  expiry: '2025-12-19',
  years,
  centre: 600,
  pairs: pairsAt(rate, years, strikes),
});

const rateOf = (of: ReturnType<typeof group>, reference: RateReference = { rate: 0.045 }) =>
  groupRates([of], reference)[0]!;

describe('the rate of a group', () => {
  const curve = [
    { days: 30, rate: 0.05 },
    { days: 365, rate: 0.04 },
  ];

  test('is what the slope of C − P over the strike says, of a European root of a tenth of a year and more', () => {
    expect(slopeRate(group(0.0534))).toBeCloseTo(0.0534, 12);
    expect(rateOf(group(0.0534))).toBeCloseTo(0.0534, 12);
    expect(rateOf(group(0.0534, 0.09))).toBe(0.045);
    expect(rateOf(group(0.0534, 0.5, 'SPY'))).toBe(0.045);
  });

  test('is not its own when that is over 2 % from a curve; without one, when it is beyond −2 % or 20 %', () => {
    const reference = { rate: 0.03, curve: [{ days: 1, rate: 0.05 }] };
    expect(rateOf(group(0.0699), reference)).toBeCloseTo(0.0699, 12);
    expect(rateOf(group(0.0701), reference)).toBe(0.05);
    // Neither the setting nor bills are evidence against forty pairs.
    for (const bill of [null, { rate: 0.05 }]) {
      expect(rateOf(group(0.199), { rate: 0.03, bill })).toBeCloseTo(0.199, 12);
      expect(rateOf(group(0.201), { rate: 0.03, bill })).toBe(bill?.rate ?? 0.03);
      expect(rateOf(group(-0.019), { rate: 0.03, bill })).toBeCloseTo(-0.019, 12);
      expect(rateOf(group(-0.021), { rate: 0.03, bill })).toBe(bill?.rate ?? 0.03);
    }
  });

  test('that has none of its own is the nearest measured expiry’s of the chain, of European roots', () => {
    const groups = [group(0.05, 0.02), group(0.05, 0.3), group(0.06, 0.6), group(0.3, 0.5), group(0.05, 0.59, 'SPY')];
    const rates = groupRates(groups, { rate: 0.03, bill: { rate: 0.04 } });
    for (const [i, rate] of [0.05, 0.05, 0.06, 0.06, 0.04].entries()) expect(rates[i]).toBeCloseTo(rate, 12);
  });

  test('needs ten pairs within 10 % of the money that span 5 % of it', () => {
    const ofStrikes = (chosen: readonly number[]) => slopeRate({ ...group(0.05), pairs: pairsAt(0.05, 0.5, chosen) });
    expect(ofStrikes(strikes.slice(0, 10))).toBeCloseTo(0.05, 12);
    expect(ofStrikes(strikes.slice(0, 9))).toBeNull();
    const close = Array.from({ length: 12 }, (_, i) => 590 + i);
    expect(ofStrikes(close)).toBeNull();
    // Those further away do not count.
    expect(ofStrikes([...strikes.slice(0, 9), 661, 700])).toBeNull();
    expect(ofStrikes([...strikes.slice(0, 9), 660])).toBeCloseTo(0.05, 12);
  });

  test('is the curve’s, linear in days, where its own is not known; without one that of bills, else the setting', () => {
    const american = (years: number) => rateOf(group(0.05, years, 'SPY'), { rate: 0.03, bill: { rate: 0.02 }, curve });
    expect(american(30 / 365)).toBeCloseTo(0.05, 12);
    expect(american(197.5 / 365)).toBeCloseTo(0.045, 12);
    expect(american(2)).toBe(0.04);
    expect(american(1 / 365)).toBe(0.05);
    expect(rateOf(group(0.05, 1, 'SPY'), { rate: 0.03, curve: [], bill: { rate: 0.02 } })).toBe(0.02);
    expect(rateOf(group(0.05, 1, 'SPY'), { rate: 0.03, curve: [] })).toBe(0.03);
  });
});

test('a chain made at a rate gives it back: its volatilities and yield are right whatever rate is set', () => {
  const listed = Array.from({ length: 41 }, (_, i) => 550 + 2.5 * i);
  const chain = pricedChain('SPXW', ['2025-06-12', '2025-12-19'], listed);
  const [right, wrong] = [market.rate, 0.03].map((rate) => solveChain(chain, { rate }));
  expect(wrong!.groups[1]!.rate).toBeCloseTo(market.rate, 5);
  expect(wrong!.groups[1]!.dividendYield).toBeCloseTo(market.dividendYield, 4);
  expect(wrong!.groups[0]!.rate).toBe(wrong!.groups[1]!.rate);
  const index = chain.rows.findIndex((row) => row.expiry === '2025-12-19' && row.strike === 620_000);
  expect(wrong!.iv[index]).toBeCloseTo(right!.iv[index]!, 5);
  expect(wrong!.gamma[index]! / right!.gamma[index]!).toBeCloseTo(1, 4);
  // A rate that is given is used.
  const told = solveChain(chain, { rate: 0.045, rates: () => 0.03 });
  expect(told.groups.map(({ rate }) => rate)).toEqual([0.03, 0.03]);
});
