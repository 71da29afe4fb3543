// Figures of real chains that docs/methodology.md prints.
import { beforeAll, describe, expect, test } from 'vitest';
import { computeGexCapture } from '../../src/analytics/gex/capture.ts';
import type { ChainCapture } from '../../src/domain/chain/chain.ts';
import type { GammaSource, GexCapture } from '../../src/domain/gex.ts';
import { exchangeInstant } from '../../src/domain/market-time.ts';
import { dayMs } from '../../src/domain/units.ts';
import { readChain } from '../../src/tape/chains/chain-file.ts';
import { hasSharedData, sharedData } from '../support/shared-data.ts';

const rate = 0.045;

async function readShared(name: string): Promise<ChainCapture> {
  return (await readChain(sharedData(`chains_cboe/${name}`), () => {})).capture;
}

function captureOf(chain: ChainCapture, gammaSource: GammaSource = 'solve'): GexCapture {
  return computeGexCapture(chain, { gammaSource, rate })!;
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

  test('its spot is a dollar over what its quotes imply: what expires that day nets 167 m solved, 164 m by the vendor’s gammas', () => {
    expect(solved).toMatchObject({ spot: 642.65, spotStale: true, inconsistentExpiries: 0 });
    expect(solved.impliedSpot).toBeCloseTo(641.65, 2);
    const today = (expiry: string) => expiry === chain.sessionDate;
    const vendor = netOf(captureOf(chain, 'vendor'), today);
    expect(vendor / 1e6).toBeCloseTo(163.8, 1);
    expect(netOf(solved, today) / 1e6).toBeCloseTo(167.2, 1);
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

/** Net gex of a day or more as version 1 of the methodology computed it at 4.5 %, dollars per $1. */
const before: [name: string, net: number][] = [
  ['ndx_20221212.csv.gz', 8_900_078.41],
  ['rut_20221212.csv.gz', -17_641_080.34],
  ['spx_20221212.csv.gz', -33_532_985.03],
  ['spx_20240107.csv.gz', -236_311_965.01],
];
// Its quotes imply 13 basis points more than its spot, so that gammas are those of another price.
const stale: [name: string, net: number] = ['rut_20230921_delayed_quotes.json.gz', -70_604_544.75];

describe.skipIf(!hasSharedData)('index chains (needs ../shared/data)', () => {
  async function netOfADayOrMore(name: string): Promise<{ capture: GexCapture; net: number }> {
    const chain = await readShared(name);
    const capture = captureOf(chain);
    const from = chain.capturedAt + dayMs;
    return { capture, net: netOf(capture, (expiry) => exchangeInstant(expiry, 16 * 60) >= from) };
  }

  test.each(before)('%s: what expires in a day or more did not move by 0.1 %%', async (name, net) => {
    const found = await netOfADayOrMore(name);
    expect(found.capture.spotStale).toBe(false);
    expect(Math.abs(found.net / net - 1)).toBeLessThan(0.001);
  });

  test('one whose spot is stale moved by 0.27 %, twice the 0.13 % by which its spot is off', async () => {
    const { capture, net } = await netOfADayOrMore(stale[0]);
    expect(capture.spotStale).toBe(true);
    expect(capture.impliedSpot! / capture.spot! - 1).toBeCloseTo(0.0013, 4);
    expect(net / stale[1] - 1).toBeCloseTo(-0.0027, 4);
  });
});

describe.skipIf(!hasSharedData)('σ-move ÷ (1.2533 · straddle), expiries within 30 days (needs ../shared/data)', () => {
  test.each([
    ['ndx_20221212.csv.gz', 19, 1.0005, 1.005],
    ['rut_20221212.csv.gz', 8, 0.9999, 1.0017],
    ['rut_20230921_delayed_quotes.json.gz', 9, 0.9967, 1.0014],
    ['spx_20240107.csv.gz', 20, 0.9985, 0.9998],
    ['spy_20250501T1649.csv.gz', 13, 0.9915, 1.0066],
    ['spy_20250903T0924.csv.gz', 13, 0.9773, 1.0035],
  ])('%s: of %d none is inconsistent, from %d to %d', async (name, count, least, greatest) => {
    const chain = await readShared(name);
    const { expiries, inconsistentExpiries } = captureOf(chain);
    const until = chain.capturedAt + 30 * dayMs;
    const ratios = expiries
      .filter(({ expiry, moveRatio }) => moveRatio !== null && exchangeInstant(expiry, 16 * 60) < until)
      .map(({ moveRatio }) => moveRatio!);
    expect(inconsistentExpiries).toBe(0);
    expect(ratios).toHaveLength(count);
    expect(Math.min(...ratios)).toBeCloseTo(least, 3);
    expect(Math.max(...ratios)).toBeCloseTo(greatest, 3);
  });
});
