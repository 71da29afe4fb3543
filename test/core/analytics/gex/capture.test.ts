import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { solveChain } from '../../../../src/core/analytics/chain/solve-chain.ts';
import { computeGexCapture } from '../../../../src/core/analytics/gex/capture.ts';
import { methodologyVersion } from '../../../../src/core/analytics/methodology.ts';
import { blackScholes } from '../../../../src/core/analytics/pricing/black-scholes.ts';
import type { ChainCapture, ChainRow } from '../../../../src/core/domain/chain/chain.ts';
import { standardRoots } from '../../../../src/core/domain/chain/option-root.ts';
import type { GexCapture } from '../../../../src/core/domain/gex/gex.ts';
import { chainOf, market, pricedChain, pricedRow, sessionDate } from '../priced-chain.ts';

const strikes = Array.from({ length: 21 }, (_, i) => 550 + 5 * i);
const expiries = [sessionDate, '2025-06-06', '2025-06-20'];
const solve = { gammaSource: 'solve', rate: market.rate } as const;
const vendor = { gammaSource: 'vendor', rate: market.rate } as const;

function captureOf(chain: ChainCapture, options: Parameters<typeof computeGexCapture>[1] = solve): GexCapture {
  const capture = computeGexCapture(chain, options);
  expect(capture).not.toBeNull();
  return capture!;
}

function sourced(right: 'call' | 'put', strike: number, gamma: number | null, more: Partial<ChainRow> = {}): ChainRow {
  return pricedRow('SPY', '2025-06-20', right, strike, { gamma, delta: right === 'call' ? 0.5 : -0.5, ...more });
}

describe('a GEX capture', () => {
  const chain = pricedChain('SPY', expiries, strikes);
  const capture = captureOf(chain);

  test('names its methodology and carries the chain’s identity', () => {
    expect(capture).toMatchObject({
      underlying: 'SPY',
      capturedAt: chain.capturedAt,
      sessionDate,
      spot: 600,
      priorCloseSpot: 598,
      gammaSource: 'solve',
      methodologyVersion,
      oiCoverage: 1,
      gammaAbsent: 0,
      contractCount: chain.rows.length,
    });
  });

  test('the worked row: 10,000 calls and 8,000 puts at 600 with the source’s gamma', () => {
    const base = { spot: 600, strike: 600, years: 30 / 365, rate: 0.045, dividendYield: 0.012, volatility: 0.15 };
    const rows = (['call', 'put'] as const).map((right) => {
      const { delta, gamma } = blackScholes({ ...base, right });
      return pricedRow('SPY', '2025-06-20', right, 600, {
        delta,
        gamma,
        openInterest: right === 'call' ? 10_000 : 8000,
      });
    });
    const { netGex, strikes: net } = captureOf(chainOf(rows), vendor);
    expect(netGex).toBeCloseTo(1_846_941.18, 2);
    expect(net).toHaveLength(1);
    expect(net[0]).toMatchObject({ strike: 600_000, expiry: null, callOi: 10_000, putOi: 8000, gex0dte: null });
    expect(net[0]!.deltaAdj).toBeCloseTo(1_482_183.82, 2);
  });

  test('a strike’s gex is exactly the sum of its expiries’, the net gex that of the strikes, 0DTE that of today’s', () => {
    let net = 0;
    for (const row of capture.strikes) {
      const parts = capture.byExpiry.filter(({ strike }) => strike === row.strike);
      expect(parts.map(({ expiry }) => expiry)).toEqual(expiries);
      expect(parts.reduce((sum, part) => sum + part.gex, 0)).toBe(row.gex);
      expect(parts.reduce((sum, part) => sum + part.deltaAdj!, 0)).toBe(row.deltaAdj);
      expect(parts.reduce((sum, part) => sum + part.callOi!, 0)).toBe(row.callOi);
      expect(row.gex0dte).toBe(parts[0]!.gex);
      expect(parts.map((part) => part.gex0dte)).toEqual([parts[0]!.gex, 0, 0]);
      net += row.gex;
    }
    expect(capture.netGex).toBe(net);
    expect(capture.strikes.map(({ strike }) => strike)).toEqual(strikes.map((strike) => strike * 1000));
  });

  test('the order in which rows arrive changes no figure', () => {
    const orders = fc.shuffledSubarray(chain.rows, { minLength: chain.rows.length });
    fc.assert(
      fc.property(orders, (rows) => {
        expect(computeGexCapture({ ...chain, rows }, solve)).toEqual(capture);
      }),
      { numRuns: 3 },
    );
  });

  test('doubling open interest doubles every exposure and moves no level', () => {
    const doubled = captureOf({
      ...chain,
      rows: chain.rows.map((row) => ({ ...row, openInterest: row.openInterest! * 2 })),
    });
    expect(doubled.netGex).toBeCloseTo(2 * capture.netGex, 4);
    expect(doubled.netVanna).toBeCloseTo(2 * capture.netVanna!, 4);
    expect(doubled.netCharm).toBeCloseTo(2 * capture.netCharm!, 4);
    doubled.strikes.forEach((row, i) => {
      expect(row.gex).toBeCloseTo(2 * capture.strikes[i]!.gex, 6);
    });
    const { flipPoint, zeroGamma, callWall, putWall, expiries: figures } = doubled;
    expect({ callWall, putWall, figures }).toEqual({
      callWall: capture.callWall,
      putWall: capture.putWall,
      figures: capture.expiries,
    });
    expect(flipPoint ?? 0).toBeCloseTo(capture.flipPoint ?? 0, 6);
    expect(zeroGamma ?? 0).toBeCloseTo(capture.zeroGamma ?? 0, 6);
  });

  test('of each expiry: max pain, the straddle nearest the forward, one standard deviation, its volatility', () => {
    const last = capture.expiries.at(-1)!;
    expect(capture.expiries.map(({ expiry }) => expiry)).toEqual(expiries);
    const years = solveChain(chain, solve).groups.at(-1)!.years;
    expect(last.atmIv).toBeCloseTo(0.18, 2);
    expect(last.expectedMoveSigma).toBeCloseTo(600 * last.atmIv! * Math.sqrt(years), 9);
    // A straddle is worth about √(2/π) of a standard deviation.
    expect(last.expectedMoveStraddle! / last.expectedMoveSigma!).toBeCloseTo(Math.sqrt(2 / Math.PI), 2);
    expect(strikes.map((strike) => strike * 1000)).toContain(last.maxPain);
  });

  test('one standard deviation is of the price that options are priced with: the implied spot, or the forward they follow', () => {
    const deviation = (of: ChainCapture, price: (capture: GexCapture, forward: number) => number) => {
      const found = captureOf(of);
      const { atmIv, expectedMoveSigma } = found.expiries.at(-1)!;
      const { years, forward } = solveChain(of, solve).groups.at(-1)!;
      expect(expectedMoveSigma).toBeCloseTo(price(found, forward) * atmIv! * Math.sqrt(years), 9);
      return found;
    };
    const stale = deviation({ ...chain, spot: 606 }, ({ impliedSpot }) => impliedSpot!);
    expect(stale).toMatchObject({ spot: 606, spotStale: true });
    expect(stale.expiries.map(({ inconsistent }) => inconsistent)).toEqual([false, false, false]);
    const onForwards = pricedChain('VIX', ['2025-09-17'], strikes);
    const { spot } = deviation({ ...onForwards, spot: 560 }, (_capture, forward) => forward);
    expect(spot).toBe(560);
  });

  test('open interest: null = the right is not listed, 0 = listed with none, neither known = no row', () => {
    const rows = [
      sourced('call', 590, 0.01, { openInterest: 0 }),
      sourced('put', 600, 0.01, { openInterest: 5 }),
      sourced('call', 610, 0.01, { openInterest: null }),
    ];
    const { strikes: net } = captureOf(chainOf(rows), vendor);
    expect(net.map(({ strike, callOi, putOi }) => [strike, callOi, putOi])).toEqual([
      [590_000, 0, null],
      [600_000, null, 5],
    ]);
  });

  test('the 0DTE part is null when nothing listed expires today', () => {
    const later = captureOf(pricedChain('SPY', ['2025-06-20'], strikes));
    expect(later.strikes.every(({ gex0dte }) => gex0dte === null)).toBe(true);
    expect(later.byExpiry.every(({ gex0dte }) => gex0dte === null)).toBe(true);
  });

  test('is not published when gammas cover less than 90% of open interest, and says what it covers above', () => {
    const rows = (unknown: number) => [
      sourced('call', 600, 0.01, { openInterest: 100 - unknown }),
      sourced('put', 600, null, { openInterest: unknown }),
    ];
    expect(captureOf(chainOf(rows(10)), vendor)).toMatchObject({ oiCoverage: 0.9, contractCount: 1, gammaAbsent: 1 });
    expect(computeGexCapture(chainOf(rows(11)), vendor)).toBeNull();
  });

  test('is not published without a price of the underlying or without open interest', () => {
    expect(computeGexCapture({ ...chain, spot: null, priorCloseSpot: null }, solve)).toBeNull();
    const unknown = chain.rows.map((row) => ({ ...row, openInterest: null }));
    expect(computeGexCapture({ ...chain, rows: unknown }, solve)).toBeNull();
    expect(computeGexCapture(chainOf([]), solve)).toBeNull();
  });

  test('a delta that is not known leaves the delta-adjusted figure of its strike unknown, and its gex known', () => {
    const { strikes: net } = captureOf(chainOf([sourced('call', 600, 0.01, { delta: null })]), vendor);
    expect(net[0]!.deltaAdj).toBeNull();
    expect(net[0]!.gex).toBeGreaterThan(0);
  });

  test('adjusted deliverables stay out; a known multiplier counts', () => {
    const plain = [sourced('call', 600, 0.01)];
    const adjusted = { ...sourced('call', 605, 0.01), root: 'SPY1' };
    expect(captureOf(chainOf([...plain, adjusted]), vendor)).toEqual(captureOf(chainOf(plain), vendor));
    const roots = { of: (root: string) => ({ ...standardRoots.of(root), multiplier: 10 }) };
    const [full, mini] = [captureOf(chainOf(plain), vendor), captureOf(chainOf(plain), { ...vendor, roots })];
    expect(mini.netGex).toBeCloseTo(full.netGex / 10, 6);
  });

  test('two roots of one expiry make one row; the expected move is that of the one that settles last', () => {
    const both = ['SPX', 'SPXW'].flatMap((root) => pricedChain(root, ['2025-06-20'], strikes).rows);
    const index = captureOf(chainOf(both));
    expect(index.byExpiry).toHaveLength(strikes.length);
    expect(index.expiries).toHaveLength(1);
    expect(index.strikes[0]!.callOi).toBe(2 * both[0]!.openInterest!);
    const weekly = captureOf(pricedChain('SPXW', ['2025-06-20'], strikes));
    expect(index.expiries[0]!.expectedMoveStraddle).toBe(weekly.expiries[0]!.expectedMoveStraddle);
  });

  test('a chain solved before gives the same capture', () => {
    expect(captureOf(chain, { ...solve, solved: solveChain(chain, solve) })).toEqual(capture);
  });
});
