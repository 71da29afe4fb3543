import { beforeAll, describe, expect, test } from 'vitest';
import { type SolvedChain, solveChain } from '../../../src/core/analytics/chain/solve-chain.ts';
import { computeGexCapture, vendorNetGex } from '../../../src/core/analytics/gex/capture.ts';
import { gammaProfile, type RepricedPosition, zeroGamma } from '../../../src/core/analytics/gex/flip-point.ts';
import type { ChainCapture } from '../../../src/core/domain/chain/chain.ts';
import { addDays, epochDay, exchangeDate } from '../../../src/core/domain/market-time.ts';
import { fromThousandths } from '../../../src/core/domain/units.ts';
import { profileCrossing } from '../../support/profile-crossing.ts';
import { hasSharedData, sharedData } from '../../support/shared-data.ts';
import { readChain } from '../../support/tapes/chain-reading.ts';

/** Three-month bills in January 2024. */
const rate = 0.0535;

/** The "per 1%" form, as the vendor publishes it, of a dollar-per-$1 figure. */
const gexPerPercent = (dollarsPerDollar: number, spot: number) => dollarsPerDollar * 0.01 * spot;

/** Days Monday to Friday from `from` up to but without `to`. */
function weekdays(from: string, to: string): number {
  let count = 0;
  for (let day = from; day < to; day = addDays(day, 1)) if ((epochDay(day) + 3) % 7 < 5) count++;
  return count;
}

describe.skipIf(!hasSharedData)('the S&P 500 chain of 2024-01-07 (needs ../shared/data)', () => {
  let chain: ChainCapture;
  let spot: number;

  beforeAll(async () => {
    const read = await readChain(sharedData('chains_cboe/spx_20240107.csv.gz'), () => {});
    chain = read.capture;
    spot = chain.spot!;
  });

  test('with the vendor’s gammas totals −11.00 Bn per 1%', () => {
    expect(spot).toBe(4697.2402);
    const capture = computeGexCapture(chain, { gammaSource: 'vendor', rate })!;
    expect(gexPerPercent(capture.netGex, spot) / 1e9).toBeCloseTo(-11, 2);
    expect(capture).toMatchObject({ gammaSource: 'vendor', oiCoverage: 1, sessionDate: '2024-01-05' });
    expect(vendorNetGex(chain, spot, undefined)).toBe(capture.netGex);
  });

  test('its profile, re-priced with weekdays/262 and no rate, crosses zero at 4734.48', () => {
    const date = exchangeDate(chain.capturedAt);
    const positions = chain.rows.flatMap((row): RepricedPosition[] => {
      const years = Math.max(weekdays(date, row.expiry), 1) / 262;
      const { right, openInterest, sharesPerContract: multiplier, iv } = row;
      if (!openInterest || !iv || multiplier === null) return [];
      const strike = fromThousandths(row.strike);
      return [{ right, strike, openInterest, multiplier, volatility: iv, years, rate: 0, dividendYield: 0 }];
    });
    expect(profileCrossing(gammaProfile(positions, spot), spot)).toBeCloseTo(4734.48, 2);
    // Between the two levels the profile is not straight.
    expect(Math.abs(zeroGamma(positions, spot)! - 4734.48)).toBeLessThan(0.5);
  });

  test('solved gammas agree with the vendor’s for 90% of contracts quoted on both sides with 7 to 365 days left', () => {
    const solved = solveChain(chain, { rate });
    let compared = 0;
    let agreeing = 0;
    for (const [index, row] of quoted(chain, solved)) {
      compared++;
      const difference = Math.abs(solved.gamma[index]! - row.gamma!);
      // The vendor prints four decimals: half of the last is rounding.
      if (difference <= 0.00005 + 1e-12 || difference <= 0.03 * row.gamma!) agreeing++;
    }
    console.info(`gammas: ${agreeing} of ${compared} agree (${((100 * agreeing) / compared).toFixed(1)}%)`);
    expect(compared).toBeGreaterThan(15_000);
    expect(agreeing / compared).toBeGreaterThan(0.9);
  });

  test('the solved total stands beside the vendor’s', () => {
    const [ours, theirs] = (['solve', 'vendor'] as const).map((gammaSource) => {
      return gexPerPercent(computeGexCapture(chain, { gammaSource, rate })!.netGex, spot) / 1e9;
    }) as [number, number];
    console.info(`net gex per 1%: solved ${ours.toFixed(2)} Bn, vendor ${theirs.toFixed(2)} Bn`);
    // A small difference of large sums, of gammas the vendor rounds to four decimals.
    expect(Math.abs(ours / theirs - 1)).toBeLessThan(0.05);
  });
});

/** Rows with a bid and an ask, 7 to 365 days before expiry, with their places in the chain. */
function* quoted(chain: ChainCapture, solved: SolvedChain): Generator<[number, ChainCapture['rows'][number]]> {
  for (const { years, strikes } of solved.groups) {
    if (years * 365 < 7 || years * 365 > 365) continue;
    for (const index of strikes.flatMap(({ call, put }) => [call, put])) {
      const row = chain.rows[index];
      if (row && row.bid! > 0 && row.ask! >= row.bid! && row.gamma !== null) yield [index, row];
    }
  }
}
