import { describe, expect, test } from 'vitest';
import { solveChain } from '../../../../src/core/analytics/chain/solve-chain.ts';
import { computeGexCapture } from '../../../../src/core/analytics/gex/capture.ts';
import { americanValue, americanVega } from '../../../../src/core/analytics/pricing/american.ts';
import { blackScholes } from '../../../../src/core/analytics/pricing/black-scholes.ts';
import { solveOrigins } from '../../../../src/core/domain/chain/chain.ts';
import { contractId } from '../../../../src/core/domain/chain/option-contract.ts';
import { capturedAt, chainOf, market, pricedChain, pricedRow, smileAt } from '../priced-chain.ts';

const strikes = Array.from({ length: 25 }, (_, i) => 540 + 5 * i);
const options = { rate: market.rate };
const originOf = (index: number) => solveOrigins[index];

describe('a solved chain', () => {
  test.each(['SPXW', 'SPY'])('%s: gives back the volatilities, forward and greeks it was priced with', (root) => {
    const chain = pricedChain(root, ['2025-06-20', '2025-09-19'], strikes);
    const solved = solveChain(chain, { ...options, allGreeks: true });
    for (const group of solved.groups) expect(group.dividendYield).toBeCloseTo(market.dividendYield, 5);
    chain.rows.forEach((row, i) => {
      const group = solved.groups.find(({ expiry }) => expiry === row.expiry)!;
      const strike = row.strike / 1000;
      const inputs = { ...market, right: row.right, strike, years: group.years, volatility: smileAt(strike) };
      const value = root === 'SPY' ? americanValue(inputs) : blackScholes(inputs);
      expect(solved.iv[i]).toBeCloseTo(smileAt(strike), 4);
      expect(solved.delta[i]).toBeCloseTo(value.delta, 3);
      expect(Math.abs(solved.gamma[i]! - value.gamma)).toBeLessThan(0.01 * value.gamma + 1e-6);
      expect(solved.theta[i]).toBeCloseTo(value.theta / 365, 2);
      const vega = root === 'SPY' ? americanVega(inputs) : blackScholes(inputs).vega;
      expect(solved.vega[i]).toBeCloseTo(vega / 100, 2);
      expect(originOf(solved.origin[i]!)).toBe('outOfTheMoney');
    });
  });

  test('call and put of a strike share the out-of-the-money volatility; a wrong in-the-money quote changes nothing', () => {
    const chain = pricedChain('SPXW', ['2025-06-20'], strikes);
    const index = chain.rows.findIndex((row) => row.strike === 560_000 && row.right === 'call');
    const before = solveChain(chain, options);
    chain.rows[index] = { ...chain.rows[index]!, bid: chain.rows[index]!.bid! + 3, ask: chain.rows[index]!.ask! + 3 };
    const after = solveChain(chain, options);
    expect(after.iv[index]).toBe(before.iv[index]);
    expect(after.iv[index]).toBe(after.iv[index + 1]);
  });

  describe.each(['SPXW', 'SPY'])(
    '%s: a strike that nobody bids for, beyond the outermost solved one of its side',
    (root) => {
      const nobody = (ask: number | null) => ({ bid: 0, ask });
      const solvedWith = (more: (strike: number) => { bid: number; ask: number | null } | null) => {
        const rows = [...strikes, 670, 680, 700].flatMap((strike) => {
          const beyond = more(strike);
          const right = strike > 600 ? 'call' : 'put';
          // The other side of a strike far out is quoted too widely to show a volatility.
          return (['call', 'put'] as const).map((one) => {
            const wide = { bid: Math.abs(strike - 600) - 30, ask: Math.abs(strike - 600) + 40 };
            return pricedRow(root, '2025-06-20', one, strike, beyond === null ? {} : one === right ? beyond : wide);
          });
        });
        const chain = chainOf(rows);
        const solved = solveChain(chain, options);
        const at = (strike: number) => chain.rows.findIndex((row) => row.strike === 1000 * strike);
        return { solved, at, gex: computeGexCapture(chain, { ...options, gammaSource: 'solve', solved }) };
      };

      test('has its volatility, and counts as covered: worthless is not unknown', () => {
        const { solved, at, gex } = solvedWith((strike) => (strike > 640 || strike < 560 ? nobody(0.5) : null));
        expect(gex!.oiCoverage).toBe(1);
        for (const [strike, end] of [
          [670, 640],
          [700, 640],
          [550, 560],
        ] as const) {
          expect(originOf(solved.origin[at(strike)]!), `${strike}`).toBe('interpolated');
          expect(solved.iv[at(strike)]).toBe(solved.iv[at(end)]);
          expect(solved.iv[at(strike) + 1]).toBe(solved.iv[at(end)]);
        }
      });

      test('has none if it is worth over a cent more than its ask at it, if it has no ask, or between solved strikes', () => {
        const { solved, at } = solvedWith((strike) => (strike > 640 ? nobody(strike === 645 ? 0.1 : null) : null));
        // At 640 deviations of 17 % the call at 645 is worth more than $0.11.
        for (const strike of [645, 650, 670]) expect(solved.iv[at(strike)]).toBeNaN();
      });
    },
  );

  test('an in-the-money quote shows a volatility only if half its spread is worth at most 0.1 of it', () => {
    const rows = strikes.flatMap((strike) => [
      pricedRow('SPXW', '2025-06-20', 'call', strike),
      pricedRow('SPXW', '2025-06-20', 'put', strike, strike === 590 ? { bid: null, ask: null } : {}),
    ]);
    const index = rows.findIndex((row) => row.strike === 590_000);
    const { delta: _, vega } = blackScholes({
      ...market,
      right: 'call',
      strike: 590,
      years: 16.2 / 365,
      volatility: 0.18,
    });
    const originAt = (error: number) => {
      const { bid, ask } = rows[index]!;
      const middle = 0.5 * (bid! + ask!);
      const wide = { ...rows[index]!, bid: middle - error * vega, ask: middle + error * vega };
      const solved = solveChain(chainOf(rows.map((row, i) => (i === index ? wide : row))), options);
      return originOf(solved.origin[index]!);
    };
    expect(originAt(0.08)).toBe('inTheMoney');
    expect(originAt(0.12)).toBe('interpolated');
  });

  test('without an out-of-the-money quote the other side is solved, without either the neighbours are joined', () => {
    const none = { bid: null, ask: null };
    const rows = strikes.flatMap((strike) => [
      pricedRow('SPXW', '2025-06-20', 'call', strike, [570, 575, 620].includes(strike) ? none : {}),
      pricedRow('SPXW', '2025-06-20', 'put', strike, strike === 580 || strike === 570 ? none : {}),
    ]);
    const solved = solveChain(chainOf(rows), options);
    const at = (strike: number) => strikes.indexOf(strike) * 2;
    // Below the forward the put is out of the money, above it the call.
    for (const strike of [580, 620]) {
      expect(originOf(solved.origin[at(strike)]!)).toBe('inTheMoney');
      expect(solved.iv[at(strike)]).toBeCloseTo(smileAt(strike), 3);
    }
    expect(originOf(solved.origin[at(570)]!)).toBe('interpolated');
    const [low, middle, high] = [565, 570, 575].map((strike) => Math.log(strike)) as [number, number, number];
    const line = (middle - low) / (high - low);
    const [from, to] = [solved.iv[at(565)]!, solved.iv[at(575)]!];
    expect(solved.iv[at(570)]).toBeCloseTo(from + line * (to - from), 12);
    expect(solved.iv[at(570) + 1]).toBe(solved.iv[at(570)]);
  });

  test("beyond the solved strikes the session's last solve serves, then the source's greeks, then nothing", () => {
    const none = { bid: null, ask: null };
    const far = [
      pricedRow('SPXW', '2025-06-20', 'call', 700, none),
      pricedRow('SPXW', '2025-06-20', 'call', 710, none),
    ];
    far.push(pricedRow('SPXW', '2025-06-20', 'call', 720, { ...none, iv: 0, delta: 0.01, gamma: 0.0002 }));
    const rows = [...pricedChain('SPXW', ['2025-06-20'], strikes).rows, ...far];
    const previousSolves = new Map([[contractId(far[0]!), 0.21]]);
    const solved = solveChain(chainOf(rows), { ...options, previousSolves });
    const base = strikes.length * 2;
    expect(originOf(solved.origin[base]!)).toBe('previous');
    expect(solved.iv[base]).toBe(0.21);
    expect(originOf(solved.origin[base + 1]!)).toBe('absent');
    expect(solved.gamma[base + 1]).toBeNaN();
    expect(originOf(solved.origin[base + 2]!)).toBe('source');
    expect([solved.gamma[base + 2], solved.delta[base + 2]]).toEqual([0.0002, 0.01]);
    expect(solved.iv[base + 2]).toBeNaN();
  });

  test('expired contracts, roots settled at this morning’s open and adjusted roots stay unknown', () => {
    const rows = ['SPXW', 'SPX', 'SPY1'].map((root, i) =>
      pricedRow(root, i === 2 ? '2025-06-20' : '2025-06-04', 'call', 600, { gamma: 0.01, delta: 0.5 }),
    );
    const atEleven = solveChain(chainOf(rows), options);
    expect([...atEleven.gamma].map(Number.isNaN)).toEqual([false, true, true]);
    const afterTheClose = solveChain(chainOf(rows, { capturedAt: capturedAt + 5 * 3_600_000 }), options);
    expect([...afterTheClose.gamma].every(Number.isNaN)).toBe(true);
  });

  test('a quote so wide that half of it is worth over 0.5 of volatility tells none', () => {
    const wide = pricedRow('SPXW', '2025-06-06', 'call', 640, { bid: 0.01, ask: 40 });
    expect(solveChain(chainOf([wide]), options).iv[0]).toBeNaN();
    const narrow = pricedRow('SPXW', '2025-06-06', 'call', 620, { bid: 0.01, ask: 0.03 });
    expect(solveChain(chainOf([narrow]), options).iv[0]).toBeGreaterThan(0.1);
  });

  test('without a price of the underlying nothing is known; the prior close stands in for it', () => {
    const chain = pricedChain('SPXW', ['2025-06-20'], [600]);
    expect(solveChain({ ...chain, spot: null, priorCloseSpot: null }, options).gamma[0]).toBeNaN();
    expect(solveChain({ ...chain, spot: null, priorCloseSpot: 600 }, options).gamma[0]).toBe(
      solveChain(chain, options).gamma[0],
    );
  });
});
