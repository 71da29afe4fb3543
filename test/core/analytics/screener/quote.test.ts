import { describe, expect, test } from 'vitest';
import { changePct } from '../../../../src/core/analytics/screener/quote.ts';
import { sectorAverages } from '../../../../src/core/analytics/screener/sectors.ts';

describe('change since the official close', () => {
  test('in percent to four decimals', () => {
    expect(changePct(99.28, 100)).toBe(-0.72);
    expect(changePct(276.1234567, 273.7)).toBe(0.8854);
    expect(changePct(100, 100)).toBe(0);
  });

  test('unknown when either price is, or the close is zero', () => {
    expect(changePct(null, 100)).toBeNull();
    expect(changePct(100, null)).toBeNull();
    expect(changePct(100, 0)).toBeNull();
  });
});

describe('sector averages', () => {
  const members = [
    { symbol: 'XOM', sector: 'energy', changePct: 1 },
    { symbol: 'CVX', sector: 'energy', changePct: 2.5 },
    { symbol: 'SLB', sector: 'energy', changePct: null },
    { symbol: 'ZZZ', sector: null, changePct: null },
    { symbol: 'AAPL', sector: 'technology', changePct: -0.5 },
  ];

  test('are unweighted over the symbols that have a change; those without a sector come last', () => {
    expect(sectorAverages(members)).toEqual([
      { sector: 'energy', symbols: ['CVX', 'SLB', 'XOM'], avgChangePct: 1.75, count: 2 },
      { sector: 'technology', symbols: ['AAPL'], avgChangePct: -0.5, count: 1 },
      { sector: 'other', symbols: ['ZZZ'], avgChangePct: null, count: 0 },
    ]);
  });

  test('do not depend on the order of the symbols', () => {
    expect(sectorAverages(members.toReversed())).toEqual(sectorAverages(members));
  });
});
