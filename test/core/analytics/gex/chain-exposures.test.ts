import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { priceChain, solveChain, withSolved } from '../../../../src/core/analytics/chain/solve-chain.ts';
import { computeGexCapture } from '../../../../src/core/analytics/gex/capture.ts';
import { type ChainExposures, chainExposures } from '../../../../src/core/analytics/gex/chain-exposures.ts';
import type { ChainCapture } from '../../../../src/core/domain/chain/chain.ts';
import type { Exposures } from '../../../../src/core/domain/gex/gex.ts';
import { chainOf, market, pricedChain } from '../priced-chain.ts';

const options = { rate: market.rate, allGreeks: true };
const strikes = Array.from({ length: 17 }, (_, i) => 560 + 5 * i);
const expiries = ['2025-06-06', '2025-06-20', '2025-07-18'];
const names = ['delta', 'vanna', 'charm', 'vega'] as const;

function solved(chain: ChainCapture): ChainCapture {
  return withSolved(chain, solveChain(chain, options));
}

function exposuresOf(chain: ChainCapture): ChainExposures {
  return chainExposures(chain, priceChain(chain, market.spot, options), market.spot);
}

const sums = (rows: readonly Exposures[]) =>
  names.map((name) => rows.reduce((sum, row) => sum + Math.round(100 * row[name]), 0));

describe.each(['SPY', 'SPXW'])('exposures of a chain of %s', (root) => {
  const chain = solved(pricedChain(root, expiries, strikes));
  const exposures = exposuresOf(chain);

  test('delta and vega are the sums over the chain’s rows', () => {
    const total = { delta: 0, vega: 0 };
    for (const { right, openInterest, solved: greeks } of chain.rows) {
      total.delta += greeks!.delta! * openInterest! * 100 * market.spot;
      total.vega += (right === 'call' ? 1 : -1) * greeks!.vega! * openInterest! * 100;
    }
    expect(Math.abs(exposures.total.delta - total.delta)).toBeLessThan(chain.rows.length * 0.005);
    expect(Math.abs(exposures.total.vega - total.vega)).toBeLessThan(chain.rows.length * 0.005);
    expect(exposures).toMatchObject({ oiCoverage: 1, contractCount: chain.rows.length });
  });

  test('vanna and charm are the net ones of the chain’s GEX capture', () => {
    const capture = computeGexCapture(pricedChain(root, expiries, strikes), { ...options, gammaSource: 'solve' })!;
    expect(Math.abs(exposures.total.vanna - capture.netVanna!)).toBeLessThan(chain.rows.length * 0.005);
    expect(Math.abs(exposures.total.charm - capture.netCharm!)).toBeLessThan(chain.rows.length * 0.005);
  });
});

describe('the sums', () => {
  const chain = solved(pricedChain('SPXW', expiries, strikes));

  test('by strike and by expiry they are the total to the cent, whatever is open and in whatever order it comes', () => {
    const interest = fc.array(fc.option(fc.integer({ min: 0, max: 2_000_000 })), {
      minLength: chain.rows.length,
      maxLength: chain.rows.length,
    });
    fc.assert(
      fc.property(interest, fc.integer(), (open, seed) => {
        const rows = chain.rows.map((row, i) => ({ ...row, openInterest: open[i]! }));
        const turned = rows.toSorted((a, b) => ((a.strike * seed) % 977) - ((b.strike * seed) % 977));
        const exposures = exposuresOf({ ...chain, rows });
        expect(sums(exposures.byStrike)).toEqual(sums([exposures.total]));
        expect(sums(exposures.byExpiry)).toEqual(sums([exposures.total]));
        // Prices are read off the quotes, of which open interest and order change nothing.
        expect(exposuresOf({ ...chain, rows: turned })).toEqual(exposures);
      }),
      { numRuns: 20 },
    );
  });

  test('a contract without a volatility is left out and lowers the coverage, one without open interest does not', () => {
    const rows = chain.rows.map((row, i) =>
      i === 0
        ? { ...row, openInterest: 300, solved: { ...row.solved!, iv: null } }
        : { ...row, openInterest: i < 5 ? 100 : i === 5 ? null : 0 },
    );
    const exposures = exposuresOf(chainOf(rows));
    expect(exposures).toMatchObject({ contractCount: 4, oiCoverage: 400 / 700 });
    expect(exposures.byExpiry.map(({ expiry }) => expiry)).toEqual(['2025-06-06']);
    expect(exposures.byStrike.map(({ strike }) => strike)).toEqual([560_000, 565_000, 570_000]);
  });
});
