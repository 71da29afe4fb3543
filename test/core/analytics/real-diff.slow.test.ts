import { describe, expect, test } from 'vitest';
import { diffGex } from '../../../src/core/analytics/gex/diff.ts';
import type { PricedCapture } from '../../../src/core/analytics/gex/diff-capture.ts';
import { solveCapture } from '../../../src/core/analytics/gex/solve-capture.ts';
import { standardRoots } from '../../../src/core/domain/chain/option-root.ts';
import { type GammaSource, type GexCapture, gexCauses } from '../../../src/core/domain/gex/gex.ts';
import { hasSharedData, sharedData } from '../../support/shared-data.ts';
import { readChain } from '../../support/tapes/chain-reading.ts';

const steps = ['spot', 'time', 'volatility', 'openInterest', 'listing'] as const;

/** Two real captures of each of these, months apart: few contracts of SPX are in both, and none of SPY. */
const pairs = [
  { name: 'SPX', files: ['spx_20221212.csv.gz', 'spx_20240107.csv.gz'], moves: steps },
  { name: 'SPY', files: ['spy_20250501T1649.csv.gz', 'spy_20250903T0924.csv.gz'], moves: ['listing'] },
];

async function capture(file: string, gammaSource: GammaSource): Promise<{ priced: PricedCapture; gex: GexCapture }> {
  const { capture: chain } = await readChain(sharedData(`chains_cboe/${file}`), () => {});
  const found = await solveCapture(chain, { rate: 0.05, gammaSource, previousSolves: async () => new Map() });
  const { impliedSpot, inputs } = found.gex!;
  return { priced: { chain: found.chain, impliedSpot, inputs: inputs!.expiries, dividends: [] }, gex: found.gex! };
}

const units = (dollars: number) => Math.round(dollars * 1e4);

describe.skipIf(!hasSharedData)('two real captures (needs ../shared/data)', () => {
  test.each(pairs)('of $name: the parts are the change of the published nets', async ({ files, moves }) => {
    for (const source of ['solve', 'vendor'] as const) {
      const [from, to] = await Promise.all(files.map((file) => capture(file, source)));
      const found = await diffGex(from!.priced, to!.priced, standardRoots);
      const contracts = from!.gex.contractCount + to!.gex.contractCount;
      expect(Math.abs(found.gex - (to!.gex.netGex - from!.gex.netGex))).toBeLessThan(contracts * 1e-4);
      for (const row of [found, ...found.strikes, ...found.expiries])
        expect(gexCauses.reduce((sum, cause) => sum + units(row[cause]), 0)).toBe(units(row.gex));
      // In solved captures, only contracts without a quote have the source's gamma.
      if (source === 'solve') expect(Math.abs(found.residual)).toBeLessThan(0.001 * Math.abs(found.gex));
      expect(steps.filter((cause) => found[cause] !== 0)).toEqual(moves);
    }
  });

  test.each(pairs)('of $name backwards: the change is the opposite, and listing with it', async ({ files }) => {
    const [from, to] = await Promise.all(files.map((file) => capture(file, 'solve')));
    const there = await diffGex(from!.priced, to!.priced, standardRoots);
    const back = await diffGex(to!.priced, from!.priced, standardRoots);
    expect(back.gex).toBe(-there.gex);
    expect(back.listing).toBe(-there.listing);
    expect([back.contractsAdded, back.contractsRemoved]).toEqual([there.contractsRemoved, there.contractsAdded]);
  });
});
