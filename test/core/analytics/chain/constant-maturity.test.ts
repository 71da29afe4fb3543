import { describe, expect, test } from 'vitest';
import { solveChain, withSolved } from '../../../../src/core/analytics/chain/solve-chain.ts';
import { volatilityAtDays, volatilitySurface } from '../../../../src/core/analytics/chain/volatility-surface.ts';
import { blackScholes } from '../../../../src/core/analytics/pricing/black-scholes.ts';
import { brent } from '../../../../src/core/analytics/pricing/brent.ts';
import { market, pricedChain, smileAt } from '../priced-chain.ts';

const at = (days: number, atmIv: number | null) => ({ years: days / 365, atmIv });

describe('volatility at a number of days', () => {
  test('total variance is linear in time: 20 % at 21 days and 25 % at 49 are 22.76 % at 30', () => {
    // w = .04·21, .0625·49: at 30 days .84 + 9/28·2.2225 = 1.554375, and √(1.554375/30) = .2276239.
    const found = volatilityAtDays([at(21, 0.2), at(49, 0.25)], 30);
    expect(found).toBeCloseTo(0.2276239, 6);
  });

  test('an expiry of that day is taken as it is, one without a volatility is passed by', () => {
    expect(volatilityAtDays([at(21, 0.2), at(30, 0.3), at(49, 0.25)], 30)).toBe(0.3);
    expect(volatilityAtDays([at(21, 0.2), at(30, null), at(49, 0.2)], 30)).toBeCloseTo(0.2, 12);
  });

  test('beyond the first and the last expiry nothing is known', () => {
    expect(volatilityAtDays([at(8, 0.2), at(60, 0.2)], 7)).toBeNull();
    expect(volatilityAtDays([at(8, 0.2), at(60, 0.2)], 90)).toBeNull();
    expect(volatilityAtDays([], 30)).toBeNull();
  });
});

describe('skew at 25 delta', () => {
  // Strikes a dollar apart, so that what is linear between two of them is near the smile.
  const strikes = Array.from({ length: 141 }, (_, i) => 530 + i);
  const july = '2025-07-18';
  const asRead = pricedChain('SPXW', [july], strikes);
  const chain = withSolved(asRead, solveChain(asRead, { rate: market.rate, allGreeks: true }));
  const [expiry] = volatilitySurface(chain).expiries;

  test('is what the smile that the quotes were made of has where the European delta is 25 %', () => {
    const volatilityWhere = (right: 'call' | 'put', delta: number, low: number, high: number) => {
      const distance = (strike: number) =>
        blackScholes({ ...market, right, strike, years: expiry!.years, volatility: smileAt(strike) }).delta - delta;
      return smileAt(brent(distance, low, distance(low), high, distance(high), 1e-9));
    };
    const call = volatilityWhere('call', 0.25, 600, 670);
    const put = volatilityWhere('put', -0.25, 530, 600);
    expect(expiry!.riskReversal25).toBeCloseTo(call - put, 4);
    expect(expiry!.butterfly25).toBeCloseTo((call + put) / 2 - expiry!.atmIv!, 4);
    expect(expiry!.riskReversal25).toBeLessThan(0);
  });

  test('is unknown where the strikes do not reach 25 delta, or one side has no volatility of its own', () => {
    const near = pricedChain('SPXW', [july], strikes.slice(60, 81));
    const solved = withSolved(near, solveChain(near, { rate: market.rate, allGreeks: true }));
    expect(volatilitySurface(solved).expiries[0]).toMatchObject({ riskReversal25: null, butterfly25: null });
    const interpolated = chain.rows.map((row) =>
      row.right === 'call' ? { ...row, solved: { ...row.solved!, origin: 'interpolated' as const } } : row,
    );
    expect(volatilitySurface({ ...chain, rows: interpolated }).expiries[0]!.riskReversal25).toBeNull();
  });

  test('of a source’s own volatilities it is theirs, linear in delta between two strikes', () => {
    const rows = asRead.rows.map((row) => {
      const out = row.strike >= 602_000 ? row.right === 'call' : row.right === 'put';
      const delta = (row.right === 'call' ? 1 : -1) * Math.max(0, 0.5 - Math.abs(row.strike / 1000 - 602) / 50.5);
      return { ...row, iv: out ? 0.2 + (row.right === 'put' ? 0.05 : 0) : 0.9, delta };
    });
    const [vendor] = volatilitySurface({ ...asRead, rate: market.rate, rows }).expiries;
    expect(vendor!.riskReversal25).toBeCloseTo(-0.05, 9);
  });
});
