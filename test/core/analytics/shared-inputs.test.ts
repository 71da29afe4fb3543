// Small chains of which each shows one way in which a chain misleads; the README beside them says what must come.
import { describe, expect, test } from 'vitest';

import { solveChain } from '../../../src/core/analytics/chain/solve-chain.ts';
import { computeGexCapture } from '../../../src/core/analytics/gex/capture.ts';
import type { Dividend } from '../../../src/core/domain/market/dividends.ts';
import { billOn } from '../../../src/core/domain/market/rates.ts';
import { hasSharedData, sharedData } from '../../support/shared-data.ts';
import { readChain } from '../../support/tapes/chain-reading.ts';

const options = { rate: 0.045 };

async function solvedOf(name: string, delayMs?: number, dividends: readonly Dividend[] = []) {
  const { capture } = await readChain(sharedData(`ingest_inputs/${name}`), () => {});
  const chain = delayMs === undefined ? capture : { ...capture, delayMs };
  const priced = { ...options, bill: billOn(chain.sessionDate), dividends };
  const solved = solveChain(chain, priced);
  return { chain, solved, gex: computeGexCapture(chain, { ...priced, gammaSource: 'solve', solved })! };
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
      expect(gex.inconsistentExpiries).toBe(0);
      for (const { forward, expiry, years } of solved.groups) {
        const { atmIv, expectedMoveSigma, moveRatio } = gex.expiries.find((one) => one.expiry === expiry)!;
        expect(expectedMoveSigma).toBeCloseTo(forward * atmIv! * Math.sqrt(years), 9);
        expect(Math.abs(moveRatio! - 1)).toBeLessThan(0.002);
      }
    });
  },
);

describe.skipIf(!hasSharedData)('version 4 of the methodology (needs ../shared/data)', () => {
  test.each([
    ['chain-four-dollars.csv', false],
    ['chain-four-dollars-stale.csv', true],
  ])('%s: a $4.35 share has its price and volatility, whatever spot the source gives', async (name, spotStale) => {
    const { gex } = await solvedOf(name, 0);
    expect(gex).toMatchObject({ spotStale, inconsistentExpiries: 0 });
    expect(Math.abs(gex.impliedSpot! - 4.35)).toBeLessThan(0.02);
    // Three days before expiry a cent of the quotes, which are rounded outwards, is 4 % of the volatility.
    gex.expiries.forEach(({ atmIv }, i) => {
      expect(Math.abs(atmIv! / 0.8 - 1)).toBeLessThan(i === 0 ? 0.045 : 0.03);
    });
  });

  test.each([
    ['chain-monthlies-only.csv', false],
    ['chain-monthlies-only-stale.csv', true],
  ])('%s: a share with monthlies only has a price by the vote of its pairs', async (name, spotStale) => {
    const { gex } = await solvedOf(name, 0);
    expect(gex).toMatchObject({ spotStale, inconsistentExpiries: 0 });
    expect(Math.abs(gex.impliedSpot! - 71.1)).toBeLessThan(0.03);
    expect(Math.abs(gex.expiries[0]!.atmIv! / 0.186 - 1)).toBeLessThan(0.03);
  });

  test('chain-exdividend-eve.csv: a dividend of 4 % tomorrow leaves price, forwards and volatilities as they are', async () => {
    const dividend = { symbol: 'EXF', exDate: '2025-07-16', amount: 4, ratio: null, kind: 'regular', declared: null };
    const { chain, solved, gex } = await solvedOf('chain-exdividend-eve.csv', undefined, [dividend as Dividend]);
    expect(gex).toMatchObject({ spotStale: false, inconsistentExpiries: 0 });
    const october = solved.groups.find(({ expiry }) => expiry === '2025-10-17')!;
    expect(Math.abs(october.forward - 97.12)).toBeLessThan(0.05);
    chain.rows.forEach(({ strike }, i) => {
      if (Math.abs(strike / 97_000 - 1) <= 0.03) expect(Math.abs(solved.iv[i]! - 0.3), `${strike}`).toBeLessThan(0.01);
    });
  });

  test('chain-ten-minutes-before-the-close.csv: right quotes at a right spot are consistent', async () => {
    const { gex } = await solvedOf('chain-ten-minutes-before-the-close.csv');
    expect(gex).toMatchObject({ spotStale: false, inconsistentExpiries: 0 });
    for (const { moveRatio } of gex.expiries) expect(Math.abs(moveRatio! - 1)).toBeLessThan(0.005);
  });
});
