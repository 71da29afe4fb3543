import { describe, expect, test } from 'vitest';
import {
  chainGroups,
  type FollowedContract,
  type MinuteMarket,
  minuteSolve,
} from '../../../../src/core/analytics/minute/solve.ts';
import { americanPrice, americanValue } from '../../../../src/core/analytics/pricing/american.ts';
import { blackScholes } from '../../../../src/core/analytics/pricing/black-scholes.ts';
import { yearsToExpiry } from '../../../../src/core/analytics/pricing/chain-groups.ts';
import { type OptionContract, readOptionContract } from '../../../../src/core/domain/chain/option-contract.ts';
import { standardRoots } from '../../../../src/core/domain/chain/option-root.ts';
import { chainCapture, chainRow, newYork } from '../../../support/option-market.ts';

const tsMs = newYork('2026-11-20', '12:00');
const expiry = '2026-12-18';
const market: MinuteMarket = {
  tsMs,
  groups: new Map(
    ['SPY', 'SPXW'].map((name) => {
      const root = standardRoots.of(name);
      const years = yearsToExpiry(expiry, root, tsMs);
      return [`${name} ${expiry}`, { root, years, spot: 600.5, rate: 0.045, dividendYield: 0.013, dividends: [] }];
    }),
  ),
};
const put = readOptionContract('O:SPY261218P00605000')!;
const call = readOptionContract('O:SPXW261218C00605000')!;

function inputs(contract: OptionContract) {
  const years = yearsToExpiry(contract.expiry, standardRoots.of(contract.root), tsMs);
  const { right, strike } = contract;
  return { right, strike: strike / 1000, years, spot: 600.5, rate: 0.045, dividendYield: 0.013, volatility: 0.2 };
}

function quoted(contract: OptionContract, price: number, more: Partial<FollowedContract> = {}): FollowedContract {
  const quote = { bid: price - 0.05, ask: price + 0.05, tsMs: tsMs - 90_000 };
  return { contract, quote, trade: null, previousClose: null, ...more };
}
const price = americanPrice(inputs(put));

test('a quote gives back the volatility it was made with, American and European, and its greeks', () => {
  const american = minuteSolve(quoted(put, price), market)!;
  expect(american.iv).toBeCloseTo(0.2, 5);
  expect(american.delta).toBeCloseTo(americanValue(inputs(put)).delta, 4);
  expect(american.gamma).toBeCloseTo(americanValue(inputs(put)).gamma, 6);
  const european = minuteSolve(quoted(call, blackScholes(inputs(call)).price), market)!;
  expect(european.iv).toBeCloseTo(0.2, 9);
  expect(european.delta).toBeCloseTo(blackScholes(inputs(call)).delta, 9);
  expect(european).toMatchObject({ tsMs, markSource: 'mid' });
  expect([american.bid, american.ask]).toEqual([price - 0.05, price + 0.05]);
});

describe('the mark', () => {
  const trade = { price, tsMs: tsMs - 15 * 60_000, eligible: true };
  const stale = { bid: price - 0.05, ask: price + 0.05, tsMs: tsMs - 90_001 };

  test('of a trade solves too, and a quote that is too old is not shown', () => {
    const solve = minuteSolve(quoted(put, price, { quote: stale, trade }), market)!;
    expect(solve.iv).toBeCloseTo(0.2, 4);
    expect(solve).toMatchObject({ markSource: 'last', bid: null, ask: null });
  });

  test('of the close before solves nothing; without any there is no sample', () => {
    expect(minuteSolve(quoted(put, price, { quote: null, previousClose: 9.5 }), market)).toEqual({
      tsMs,
      iv: null,
      delta: null,
      gamma: null,
      mark: 9.5,
      markSource: 'close',
      bid: null,
      ask: null,
    });
    expect(minuteSolve(quoted(put, price, { quote: stale }), market)).toBeNull();
  });
});

test('a mark that no volatility has leaves iv, delta and gamma unknown', () => {
  const unknown = { iv: null, delta: null, gamma: null };
  expect(minuteSolve(quoted(put, 4.5), market)).toMatchObject({ ...unknown, mark: 4.5 });
  expect(minuteSolve(quoted(put, 606), market)).toMatchObject(unknown);
  expect(minuteSolve(quoted({ ...put, expiry: '2026-11-19' }, price), market)).toMatchObject(unknown);
  expect(minuteSolve(quoted({ ...put, root: 'SPY1' }, price), market)).toMatchObject(unknown);
  expect(minuteSolve(quoted(put, price), { ...market, groups: new Map() })).toMatchObject(unknown);
  // The half spread of 40 is worth more than half a volatility of about 65 dollars each.
  const wide = { quote: { bid: 0.01, ask: 80, tsMs } };
  expect(minuteSolve(quoted(put, price, wide), market)).toMatchObject({ ...unknown, mark: 40.005 });
});

test('rates, yields and forwards are those of the chain: one made with 1.3 % gives it back', () => {
  const rows = [580, 590, 600, 610, 620].flatMap((strike) =>
    (['call', 'put'] as const).map((right) => {
      const contract = { ...call, right, strike: strike * 1000 };
      const { price: mid } = blackScholes(inputs(contract));
      return chainRow({ ...contract, bid: mid - 0.05, ask: mid + 0.05 });
    }),
  );
  const chain = chainCapture('SPX', tsMs, rows);
  const curve = [{ days: 10, rate: 0.045 }];
  const groups = chainGroups(chain, { rate: 0.03, curve });
  expect([...groups.keys()]).toEqual([`SPXW ${expiry}`]);
  const { years } = market.groups.get(`SPXW ${expiry}`)!;
  expect(groups.get(`SPXW ${expiry}`)).toMatchObject({ rate: 0.045, dividend: null });
  expect(groups.get(`SPXW ${expiry}`)!.dividendYield).toBeCloseTo(0.013, 6);
  expect(groups.get(`SPXW ${expiry}`)!.forward).toBeCloseTo(600.5 * Math.exp((0.045 - 0.013) * years), 6);
  expect(chainGroups({ ...chain, spot: null, priorCloseSpot: null }, { rate: 0.045 }).size).toBe(0);
});
