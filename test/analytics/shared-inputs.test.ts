// Small chains of which each shows one way in which a chain misleads; the README beside them says what must come.
import { describe, expect, test } from 'vitest';

import { selfCheck, sigmaMove } from '../../src/analytics/chain/expected-move.ts';
import { solveChain } from '../../src/analytics/chain/solve-chain.ts';
import { computeGexCapture } from '../../src/analytics/gex/capture.ts';
import { readChain } from '../../src/tape/chains/chain-file.ts';
import { hasSharedData, sharedData } from '../support/shared-data.ts';

const options = { rate: 0.045 };

async function solvedOf(name: string) {
  const { capture: chain } = await readChain(sharedData(`ingest_inputs/${name}`), () => {});
  const solved = solveChain(chain, options);
  return { chain, solved, gex: computeGexCapture(chain, { ...options, gammaSource: 'solve', solved })! };
}

describe.skipIf(!hasSharedData)('an $11.40 share with strikes every $0.50 (needs ../shared/data)', () => {
  test.each([
    ['chain-cheap-stock.csv', false],
    ['chain-cheap-stock-stale-spot.csv', true],
  ])('%s: its price, net and volatility are those that its quotes were made with', async (name, spotStale) => {
    const { gex } = await solvedOf(name);
    expect(gex.spotStale).toBe(spotStale);
    expect(Math.abs(gex.impliedSpot! - 11.4)).toBeLessThan(0.02);
    expect(Math.abs(gex.netGex / 1.023e6 - 1)).toBeLessThan(0.05);
    expect(Math.abs(gex.expiries[0]!.atmIv! / 0.449 - 1)).toBeLessThan(0.02);
    expect(gex.oiCoverage).toBe(1);
  });
});

describe.skipIf(!hasSharedData)(
  'options that follow a forward of 17 to 19, not the spot of 15.70 (needs ../shared/data)',
  () => {
    test('every call delta is within [0, 1], and the σ-move of the forward agrees with the straddle', async () => {
      const { chain, solved, gex } = await solvedOf('chain-on-forwards.csv');
      expect(solved).toMatchObject({ impliedSpot: null, spotStale: null });
      chain.rows.forEach(({ right }, i) => {
        const size = right === 'call' ? solved.delta[i]! : -solved.delta[i]!;
        expect(size).toBeGreaterThanOrEqual(0);
        expect(size).toBeLessThanOrEqual(1);
      });
      for (const { forward, expiry, years } of solved.groups) {
        const { atmIv, expectedMoveStraddle } = gex.expiries.find((one) => one.expiry === expiry)!;
        const checked = selfCheck(sigmaMove(forward, atmIv, years), expectedMoveStraddle, years);
        expect(checked.inconsistent).toBe(false);
        expect(Math.abs(checked.moveRatio! - 1)).toBeLessThan(0.02);
      }
    });
  },
);
