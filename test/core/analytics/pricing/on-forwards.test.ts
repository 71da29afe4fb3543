import { describe, expect, test } from 'vitest';
import { solveChain } from '../../../../src/core/analytics/chain/solve-chain.ts';
import { minuteMarket } from '../../../../src/core/analytics/minute/minute-market.ts';
import { chainGroups } from '../../../../src/core/analytics/minute/solve.ts';
import { blackScholes, normalCdf } from '../../../../src/core/analytics/pricing/black-scholes.ts';
import type { ChainRow } from '../../../../src/core/domain/chain/chain.ts';
import { standardRoots } from '../../../../src/core/domain/chain/option-root.ts';
import { capturedAt, chainOf, pricedRow } from '../priced-chain.ts';

const rate = 0.045;
const [first, second, third] = ['2025-06-18', '2025-07-16', '2025-08-20'] as const;
const forwards = new Map([
  [first, 19.1],
  [second, 20.3],
]);
const strikes = Array.from({ length: 16 }, (_, i) => 12 + i);

/** Options of an index at 15.7 that follow their forwards, by Black-76, quoted a cent on either side. */
function rowsOf(expiry: string, forward: number, years: number): ChainRow[] {
  return strikes.flatMap((strike) =>
    (['call', 'put'] as const).map((right) => {
      const market = { spot: forward, rate, dividendYield: rate, volatility: 0.8 };
      const { price } = blackScholes({ ...market, right, strike, years });
      const row = { bid: Math.max(0, price - 0.01), ask: price + 0.01, strike: 1000 * strike };
      return { ...pricedRow('VIX', expiry, right, strike), ...row };
    }),
  );
}

const yearsOf = (expiry: string) =>
  solveChain(chainOf([pricedRow('VIX', expiry, 'call', 20)]), { rate }).groups[0]!.years;
const rows = [...forwards].flatMap(([expiry, forward]) => rowsOf(expiry, forward, yearsOf(expiry)));
const chain = chainOf([...rows, pricedRow('VIX', third, 'call', 20, { bid: null, ask: null })], { spot: 15.7 });

describe('options on a forward', () => {
  const solved = solveChain(chain, { rate, allGreeks: true });

  test('are priced on it alone: the spot is neither implied nor stale, and no group grows', () => {
    expect(solved).toMatchObject({ impliedSpot: null, spotStale: null, pricingSpot: 15.7 });
    for (const { forward, spot, rate: own, dividendYield, expiry } of solved.groups) {
      expect([spot, dividendYield]).toEqual([forward, own]);
      if (forwards.has(expiry as typeof first)) expect(forward).toBeCloseTo(forwards.get(expiry as typeof first)!, 2);
    }
  });

  test('have delta e^{−rT}·N(d1) of it, never above 1, and volatilities that the spot does not touch', () => {
    for (const group of solved.groups.slice(0, 2)) {
      for (const { dollars, call, put } of group.strikes) {
        if (dollars < 15 || dollars > 26) continue;
        const deviation = 0.8 * Math.sqrt(group.years);
        const d1 = Math.log(group.forward / dollars) / deviation + 0.5 * deviation;
        const discount = Math.exp(-group.rate * group.years);
        expect(solved.iv[call]).toBeCloseTo(0.8, 1);
        expect(Math.abs(solved.delta[call]! - discount * normalCdf(d1))).toBeLessThan(0.003);
        expect(solved.delta[call]! - solved.delta[put]!).toBeCloseTo(discount, 9);
      }
    }
    expect(Math.max(...solved.delta.filter((value) => !Number.isNaN(value)))).toBeLessThanOrEqual(1);
    const elsewhere = solveChain({ ...chain, spot: 25 }, { rate });
    solved.iv.forEach((iv, i) => {
      expect(elsewhere.iv[i]).toBe(iv);
    });
  });

  test('without pairs of their own have the forward of the nearest expiry', () => {
    expect(solved.groups[2]!.forward).toBe(solved.groups[1]!.forward);
    const alone = solveChain(chainOf([pricedRow('VIX', third, 'call', 20)], { spot: 15.7 }), { rate });
    expect(alone.groups[0]!.forward).toBe(15.7);
  });

  test('have the chain’s forward at a minute whose quotes tell none', () => {
    const [row] = rows.filter(
      ({ expiry, strike, right }) => expiry === second && strike === 20_000 && right === 'call',
    );
    const followed = [{ contract: row!, quote: { bid: row!.bid, ask: row!.ask, tsMs: capturedAt } }];
    const market = minuteMarket(followed, {
      underlying: 'VIX',
      tsMs: capturedAt,
      spot: 15.7,
      reference: { rate },
      roots: standardRoots,
      chain: chainGroups(chain, { rate }),
    });
    expect(market.groups.get(`VIX ${second}`)!.spot).toBe(solved.groups[1]!.forward);
  });
});
