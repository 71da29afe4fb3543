// Figures of real chains that docs/methodology.md prints.
import { beforeAll, describe, expect, test } from 'vitest';
import { solveChain } from '../../../src/core/analytics/chain/solve-chain.ts';
import { computeGexCapture } from '../../../src/core/analytics/gex/capture.ts';
import type { ChainCapture } from '../../../src/core/domain/chain/chain.ts';
import type { GammaSource, GexCapture } from '../../../src/core/domain/gex/gex.ts';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { dayMs } from '../../../src/platform/runtime/clock.ts';
import { hasSharedData, sharedData } from '../../support/shared-data.ts';
import { readChain } from '../../support/tapes/chain-reading.ts';

const rate = 0.045;

async function readShared(name: string): Promise<ChainCapture> {
  return (await readChain(sharedData(`chains_cboe/${name}`), () => {})).capture;
}

function captureOf(chain: ChainCapture, gammaSource: GammaSource = 'solve'): GexCapture {
  return computeGexCapture(chain, { gammaSource, rate })!;
}

/** A capture of which every group has the rate that is set, as before groups had rates of their own. */
function captureAtOneRate(chain: ChainCapture): GexCapture {
  return computeGexCapture(chain, { gammaSource: 'solve', rate, rates: () => rate })!;
}

/** Net gex, dollars per $1, over the expiries that `counts` says. */
function netOf({ byExpiry }: GexCapture, counts: (expiry: string) => boolean): number {
  return byExpiry.reduce((sum, { expiry, gex }) => (counts(expiry!) ? sum + gex : sum), 0);
}

describe.skipIf(!hasSharedData)('the SPY chain of 2025-09-03, 09:24 (needs ../shared/data)', () => {
  let chain: ChainCapture;
  let solved: GexCapture;
  beforeAll(async () => {
    chain = await readShared('spy_20250903T0924.csv.gz');
    solved = captureOf(chain);
  });

  test('its spot is a dollar over what its quotes imply: what expires that day nets 166 m solved, 164 m by the vendor’s gammas', () => {
    expect(solved).toMatchObject({ spot: 642.65, spotStale: true, inconsistentExpiries: 0 });
    expect(solved.impliedSpot).toBeCloseTo(641.65, 2);
    const today = (expiry: string) => expiry === chain.sessionDate;
    const vendor = netOf(captureOf(chain, 'vendor'), today);
    expect(vendor / 1e6).toBeCloseTo(163.8, 1);
    expect(netOf(solved, today) / 1e6).toBeCloseTo(165.9, 1);
    expect(Math.abs(netOf(solved, today) / vendor - 1)).toBeLessThan(0.05);
  });

  test('expiry by expiry the sign of the net is the vendor’s, where that is worth more than its rounding', () => {
    const vendor = captureOf(chain, 'vendor');
    for (const { expiry } of solved.expiries) {
      const [ours, theirs] = [solved, vendor].map((capture) => netOf(capture, (one) => one === expiry));
      if (Math.abs(theirs!) > 3e6) expect(Math.sign(ours!), expiry).toBe(Math.sign(theirs!));
    }
  });
});

/**
 * Net gex of a day or more, dollars per $1: by version 3 of the methodology and now, at one rate of 4.5 %, and now with
 * the chain's own rates.
 */
const nets: [name: string, before: number, oneRate: number, own: number][] = [
  ['ndx_20221212.csv.gz', 8_900_500, 8_901_982, 8_902_117],
  // Two contracts without a bid had the vendor's gamma, of one digit.
  ['rut_20221212.csv.gz', -17_639_400, -17_680_355, -17_649_159],
  ['rut_20230921_delayed_quotes.json.gz', -70_397_700, -70_416_828, -70_180_266],
  // Volatilities of in-the-money quotes that are several dollars wide are no longer used.
  ['spx_20221212.csv.gz', -33_533_500, -33_473_019, -33_431_688],
  ['spx_20240107.csv.gz', -236_212_400, -239_038_390, -239_037_307],
];

describe.skipIf(!hasSharedData)('index chains (needs ../shared/data)', () => {
  test.each(nets)(
    '%s: the net of a day or more is %d in version 3, %d at the same rate',
    async (...[name, before, oneRate, own]) => {
      const chain = await readShared(name);
      const from = chain.capturedAt + dayMs;
      const netOfADayOrMore = (capture: GexCapture) =>
        netOf(capture, (expiry) => exchangeInstant(expiry, 16 * 60) >= from);
      expect(netOfADayOrMore(captureAtOneRate(chain)) / oneRate).toBeCloseTo(1, 6);
      expect(netOfADayOrMore(captureOf(chain)) / own).toBeCloseTo(1, 6);
      expect(Math.abs(oneRate / before - 1)).toBeLessThan(0.012);
    },
  );

  test('one whose spot is stale is priced with what its quotes imply, 0.13 % above it', async () => {
    const { spotStale, impliedSpot, spot } = captureOf(await readShared('rut_20230921_delayed_quotes.json.gz'));
    expect(spotStale).toBe(true);
    expect(impliedSpot! / spot! - 1).toBeCloseTo(0.0013, 4);
  });

  test('rates are the chain’s own, and a volatility years away is the vendor’s', async () => {
    const chain = await readShared('spx_20240107.csv.gz');
    const { groups } = solveChain(chain, { rate });
    const year = groups.filter(({ expiry }) => expiry >= '2024-12-20' && expiry <= '2025-01-17');
    expect(year.length).toBeGreaterThan(2);
    for (const group of year) expect(group.rate).toBeCloseTo(0.0506, 3);
    const ivOf = (capture: GexCapture, expiry: string) => capture.expiries.find((one) => one.expiry === expiry)!.atmIv!;
    const [own, one, vendor] = [captureOf(chain), captureAtOneRate(chain), captureOf(chain, 'vendor')];
    // Three years away at 4.1 %; the vendor says 0.1723.
    expect(ivOf(own, '2026-12-18')).toBeCloseTo(0.1725, 4);
    expect(ivOf(one, '2026-12-18')).toBeCloseTo(0.1744, 4);
    expect(ivOf(vendor, '2026-12-18')).toBeCloseTo(0.1723, 4);
    // Four years away five pairs are within 10 % of the money: the nearest measured expiry decides.
    const rateOf = (expiry: string) => groups.find((group) => group.expiry === expiry)!.rate;
    expect(rateOf('2027-12-17')).toBe(rateOf('2026-12-18'));
    expect(ivOf(own, '2027-12-17')).toBeCloseTo(0.1805, 4);
    expect(ivOf(one, '2027-12-17')).toBeCloseTo(0.183, 4);
    expect(ivOf(vendor, '2027-12-17')).toBeCloseTo(0.1797, 4);
  });
});

test.skipIf(!hasSharedData)('of NDX 2022-12-12 the peaks lie the wrong way round, and the walls do not', async () => {
  const { callWall, putWall, callGexPeak, putGexPeak } = captureOf(await readShared('ndx_20221212.csv.gz'));
  expect([callGexPeak, putGexPeak]).toEqual([11_650_000, 12_000_000]);
  expect([callWall, putWall]).toEqual([11_650_000, 11_000_000]);
});

describe.skipIf(!hasSharedData)('straddle ÷ its model, expiries within 30 days (needs ../shared/data)', () => {
  test.each([
    ['ndx_20221212.csv.gz', 19, 0.9974, 1.0013],
    ['rut_20221212.csv.gz', 8, 0.9993, 1.0008],
    ['rut_20230921_delayed_quotes.json.gz', 9, 0.9978, 1.0016],
    ['spx_20240107.csv.gz', 20, 0.9997, 1.0008],
    ['spy_20250501T1649.csv.gz', 13, 0.9949, 1.0003],
    ['spy_20250903T0924.csv.gz', 13, 0.9991, 1.002],
  ])('%s: of %d none is inconsistent, from %d to %d', async (name, count, least, greatest) => {
    const chain = await readShared(name);
    const { expiries, inconsistentExpiries } = captureOf(chain);
    const until = chain.capturedAt + 30 * dayMs;
    const ratios = expiries
      .filter(({ expiry, moveRatio }) => moveRatio !== null && exchangeInstant(expiry, 16 * 60) < until)
      .map(({ moveRatio }) => moveRatio!);
    expect(inconsistentExpiries).toBe(0);
    expect(ratios).toHaveLength(count);
    expect(Math.min(...ratios)).toBeCloseTo(least, 4);
    expect(Math.max(...ratios)).toBeCloseTo(greatest, 4);
  });
});
