import fc from 'fast-check';
import { expect, test } from 'vitest';
import { diffGex } from '../../../../src/core/analytics/gex/diff.ts';
import type { PricedCapture } from '../../../../src/core/analytics/gex/diff-capture.ts';
import { type ChainCapture, solveOrigins } from '../../../../src/core/domain/chain/chain.ts';
import { standardRoots } from '../../../../src/core/domain/chain/option-root.ts';
import { type GexDifference, gexCauses } from '../../../../src/core/domain/gex/gex.ts';
import type { Dividend } from '../../../../src/core/domain/market/dividends.ts';
import {
  blackGamma,
  type HandMadeContract,
  type HandMadeMarket,
  handMadeCapture,
  quotedChain,
  solvedPair,
  yearsLeft,
} from '../../../support/hand-made-capture.ts';
import { newYork } from '../../../support/option-market.ts';
import '../../../support/property-seed.ts';

const [monday, tuesday] = [newYork('2026-11-16', '11:00'), newYork('2026-11-17', '11:00')];
const diff = (from: HandMadeMarket, to: HandMadeMarket) =>
  diffGex(handMadeCapture(from), handMadeCapture(to), standardRoots);
const causesOf = (difference: GexDifference) => gexCauses.filter((cause) => difference[cause] !== 0);

test('the forward of a root on forwards is its spot: it moves to its new value with the first step', async () => {
  const contract: HandMadeContract = {
    root: 'VIXW',
    expiry: '2026-12-02',
    right: 'call',
    strike: 20,
    openInterest: 10_000,
    volatility: 0.9,
  };
  const group = { root: 'VIXW', expiry: '2026-12-02', rate: 0.04, dividendYield: 0.04 };
  const calm = { atMs: monday, spot: 17, impliedSpot: null, contracts: [contract] };
  const found = await diff(
    { ...calm, groups: [{ ...group, forward: 18 }] },
    { ...calm, spot: 19, groups: [{ ...group, forward: 21 }] },
  );
  const years = yearsLeft('VIXW', '2026-12-02', monday);
  const gamma = (forward: number) => blackGamma({ ...group, forward, strike: 20, years, volatility: 0.9 });
  expect(causesOf(found)).toEqual(['spot']);
  expect(found.spot).toBeCloseTo(gamma(21) * 10_000 * 100 * 19 - gamma(18) * 10_000 * 100 * 17, 3);
});

test('a dividend that goes ex is in the last market step; forwards follow the price until then', async () => {
  // Without interest a put is never exercised early, so that it is worth what Black's formula says.
  const contract: HandMadeContract = {
    root: 'SPY',
    expiry: '2026-12-18',
    right: 'put',
    strike: 590,
    openInterest: 500,
    volatility: 0.2,
  };
  const group = { root: 'SPY', expiry: '2026-12-18' };
  const dividend = { amount: 5, exDate: '2026-11-17', source: 'dataset' } as const;
  const found = await diff(
    { atMs: monday, spot: 600, groups: [{ ...group, forward: 595, dividend }], contracts: [contract] },
    { atMs: tuesday, spot: 596, groups: [{ ...group, forward: 596 }], contracts: [contract] },
  );
  const gamma = (forward: number, atMs: number) => {
    const years = yearsLeft('SPY', '2026-12-18', atMs);
    return blackGamma({ forward, strike: 590, years, volatility: 0.2, rate: 0, dividendYield: 0 });
  };
  const moved = (595 * 596) / 600;
  const size = -500 * 100;
  expect(found.spot).toBeCloseTo(size * (gamma(moved, monday) * 596 - gamma(595, monday) * 600), 3);
  expect(found.time).toBeCloseTo(size * 596 * (gamma(moved, tuesday) - gamma(moved, monday)), 3);
  expect(found.volatility).toBeCloseTo(size * 596 * (gamma(596, tuesday) - gamma(moved, tuesday)), 3);
});

const dividends: Dividend[] = ['2026-12-18', '2027-03-19'].map((exDate) => ({
  symbol: 'SPY',
  exDate,
  kind: 'regular',
  amount: 1.9,
  ratio: null,
  declared: null,
}));

/** A chain of SPY without the dividends above, which go out of its spot. */
const chainOfSpy = (atMs: number, spot: number, volatility: number) =>
  quotedChain({
    root: 'SPY',
    atMs,
    spot,
    volatility,
    expiries: ['2026-11-25', '2027-01-15', '2027-06-17'],
    strikes: [560, 570, 580, 585, 590, 595, 600, 605, 610, 615, 620, 630, 640],
    openInterest: (strike) => 100 + strike,
    paidBy: (years) => (years > 0.5 ? 3.8 : years > 0.1 ? 1.9 : 0),
  });

async function solved(chain: ChainCapture, known: Dividend[]): Promise<PricedCapture & { net: number }> {
  const { chain: stored, gex } = await solvedPair(chain, dividends);
  const { impliedSpot, inputs, netGex } = gex;
  return { chain: stored, impliedSpot, inputs: inputs!.expiries, dividends: known, net: netGex };
}

test('solved captures leave no residual, and the change is that of their published nets', async () => {
  const chains = [chainOfSpy(monday, 600, 0.16), chainOfSpy(tuesday, 606, 0.15)] as const;
  const [from, to] = await Promise.all(chains.map((chain) => solved(chain, dividends)));
  const found = await diffGex(from!, to!, standardRoots);
  expect(found.residual).toBe(0);
  expect(Math.abs(found.gex - (to!.net - from!.net))).toBeLessThan(78 * 1e-4);
  expect(causesOf(found)).toEqual(['spot', 'time', 'volatility']);
  // With its pricing a chain has its dividends; the dataset is not needed.
  const alone = await Promise.all(chains.map((chain) => solved(chain, [])));
  expect(await diffGex(alone[0]!, alone[1]!, standardRoots)).toEqual(found);
  // An older capture stores the sum of its dividends alone: without the dataset, re-pricing is approximate and says so.
  const [bare, later] = alone.map((one) => ({ ...one, chain: { ...one.chain, pricing: null } }));
  const near = await diffGex(bare!, later!, standardRoots);
  expect(near.residual).not.toBe(0);
  expect(Math.abs(near.residual)).toBeLessThan(0.02 * Math.abs(from!.net));
});

const volatility = fc.double({ min: 0.05, max: 2, noNaN: true });
const contracts = fc.uniqueArray(
  fc.record({
    root: fc.constantFrom('SPX', 'SPXW'),
    expiry: fc.constantFrom('2026-11-20', '2026-12-18', '2027-01-15'),
    right: fc.constantFrom('call' as const, 'put' as const),
    strike: fc.integer({ min: 55, max: 65 }).map((tens) => tens * 100),
    openInterest: fc.option(fc.integer({ min: 0, max: 200_000 })),
    volume: fc.option(fc.integer({ min: 0, max: 50_000 })),
    volatility: fc.option(volatility, { freq: 8 }),
    origin: fc.constantFrom(...solveOrigins.slice(1)),
  }),
  { selector: ({ root, expiry, right, strike }) => `${root} ${expiry} ${right} ${strike}`, maxLength: 60 },
);
const market = fc.record({
  atMs: fc.integer({ min: monday, max: newYork('2026-12-20', '12:00') }),
  spot: fc.double({ min: 5000, max: 7000, noNaN: true }),
  impliedSpot: fc.option(fc.double({ min: 5000, max: 7000, noNaN: true })),
  forward: fc.double({ min: 5000, max: 7000, noNaN: true }),
  rate: fc.double({ min: 0, max: 0.1, noNaN: true }),
  contracts,
});

test('parts add up to the change at each strike, for each expiry and in all, for any two chains', async () => {
  const made = ({ forward, rate, ...rest }: typeof market extends fc.Arbitrary<infer M> ? M : never) => {
    const groups = ['2026-11-20', '2026-12-18'].flatMap((expiry) =>
      ['SPX', 'SPXW'].map((root) => ({ root, expiry, forward, rate })),
    );
    return handMadeCapture({ ...rest, groups });
  };
  await fc.assert(
    fc.asyncProperty(market, market, async (from, to) => {
      const found = await diffGex(made(from), made(to), standardRoots);
      const units = (dollars: number) => Math.round(dollars * 1e4);
      for (const moves of [found, ...found.strikes, ...found.expiries]) {
        expect(gexCauses.reduce((sum, cause) => sum + units(moves[cause]), 0)).toBe(units(moves.gex));
      }
      for (const name of ['gex', ...gexCauses] as const) {
        const sum = (rows: readonly GexDifference[typeof name][]) => rows.reduce((a, b) => a + units(b), 0);
        expect(sum(found.strikes.map((row) => row[name]))).toBe(units(found[name]));
        expect(sum(found.expiries.map((row) => row[name]))).toBe(units(found[name]));
      }
      for (const name of ['callOi', 'putOi', 'volume'] as const) {
        const sum = (rows: readonly (number | null)[]) => rows.reduce<number>((a, b) => a + (b ?? 0), 0);
        expect(sum(found.strikes.map((row) => row[name]))).toBe(found[name] ?? 0);
        expect(sum(found.expiries.map((row) => row[name]))).toBe(found[name] ?? 0);
      }
    }),
  );
});
