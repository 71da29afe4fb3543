import { describe, expect, test } from 'vitest';
import { diffGex } from '../../../../src/core/analytics/gex/diff.ts';
import { type OptionRoots, standardRoots } from '../../../../src/core/domain/chain/option-root.ts';
import { type GexDifference, gexCauses } from '../../../../src/core/domain/gex/gex.ts';
import {
  type BlackInputs,
  blackGamma,
  type HandMadeContract,
  type HandMadeMarket,
  handMadeCapture,
  yearsLeft,
} from '../../../support/hand-made-capture.ts';
import { newYork } from '../../../support/option-market.ts';

const roots: OptionRoots = standardRoots;
const [near, far] = ['2026-11-27', '2026-12-31'];
const [morning, nextMorning] = [newYork('2026-11-19', '10:00'), newYork('2026-11-20', '10:00')];

const contract = (right: 'call' | 'put', strike: number, more: Partial<HandMadeContract> = {}): HandMadeContract => ({
  root: 'SPXW',
  expiry: near,
  right,
  strike,
  openInterest: 1000,
  volume: 10,
  volatility: 0.2,
  ...more,
});
const calm: HandMadeMarket = {
  atMs: morning,
  spot: 6000,
  groups: [
    { root: 'SPXW', expiry: near, forward: 6005, rate: 0.04, dividendYield: 0.01 },
    { root: 'SPXW', expiry: far, forward: 6020, rate: 0.041, dividendYield: 0.012 },
  ],
  contracts: [contract('call', 6050), contract('put', 5900), contract('call', 6100, { expiry: far, volatility: 0.18 })],
};
const diff = (from: HandMadeMarket, to: HandMadeMarket) => diffGex(handMadeCapture(from), handMadeCapture(to), roots);
const causesOf = (difference: GexDifference) => gexCauses.filter((cause) => difference[cause] !== 0);

/** Net gex of the contracts at their own gammas, dollars per $1: written for the tests alone. */
function net(contracts: readonly HandMadeContract[], spot: number, gamma: (contract: HandMadeContract) => number) {
  const sign = { call: 1, put: -1 };
  return contracts.reduce((sum, each) => sum + sign[each.right] * gamma(each) * each.openInterest! * 100 * spot, 0);
}

describe('the change of gex between two captures', () => {
  test('between a capture and itself is zero, in all and in every part', async () => {
    const same = await diff(calm, calm);
    expect(causesOf(same)).toEqual([]);
    expect(same).toMatchObject({ gex: 0, callOi: 0, putOi: 0, volume: 0, contractsAdded: 0, contractsRemoved: 0 });
    expect(same.strikes.map(({ strike }) => strike)).toEqual([5_900_000, 6_050_000, 6_100_000]);
    expect(same.expiries.map(({ expiry }) => expiry)).toEqual([near, far]);
  });

  test('is split by moving one factor after the other to its new value', async () => {
    const later: HandMadeMarket = {
      atMs: nextMorning,
      spot: 5940,
      impliedSpot: 5938,
      groups: [
        { root: 'SPXW', expiry: near, forward: 5944, rate: 0.042, dividendYield: 0.011 },
        { root: 'SPXW', expiry: far, forward: 5960, rate: 0.043, dividendYield: 0.013 },
      ],
      contracts: calm.contracts.map((each, i) => ({ ...each, volatility: 0.25 + 0.01 * i, openInterest: 1500 - i })),
    };
    const found = await diff({ ...calm, impliedSpot: 5999 }, later);
    const market = ({ groups }: HandMadeMarket, expiry: string) => groups.find((group) => group.expiry === expiry)!;
    const inputs = (each: HandMadeContract, step: number): BlackInputs => {
      const [old, now] = [market(calm, each.expiry), market(later, each.expiry)];
      const forward = step < 1 ? old.forward : step < 3 ? (old.forward * 5938) / 5999 : now.forward;
      const { rate = 0, dividendYield = 0 } = step < 3 ? old : now;
      const years = yearsLeft('SPXW', each.expiry, step < 2 ? morning : nextMorning);
      const nth = calm.contracts.findIndex(({ right, strike }) => right === each.right && strike === each.strike);
      const volatility = step < 3 ? each.volatility! : 0.25 + 0.01 * nth;
      return { forward, strike: each.strike, years, volatility, rate, dividendYield };
    };
    const at = (step: number, spot: number, contracts = calm.contracts) =>
      net(contracts, spot, (each) => blackGamma(inputs(each, step)));
    const states = [at(0, 6000), at(1, 5940), at(2, 5940), at(3, 5940), at(3, 5940, later.contracts)] as const;
    expect(found.spot).toBeCloseTo(states[1] - states[0], 3);
    expect(found.time).toBeCloseTo(states[2] - states[1], 3);
    expect(found.volatility).toBeCloseTo(states[3] - states[2], 3);
    expect(found.openInterest).toBeCloseTo(states[4] - states[3], 3);
    expect([found.listing, found.residual]).toEqual([0, 0]);
    expect(found.gex).toBeCloseTo(states[4] - states[0], 3);
    expect(found).toMatchObject({ callOi: 998, putOi: 499, volume: 0 });
    for (const cause of ['spot', 'time', 'volatility', 'openInterest'] as const)
      expect(Math.abs(found[cause])).toBeGreaterThan(1000);
  });

  test('has one part where one factor moves', async () => {
    const elsewhere = {
      ...calm,
      contracts: calm.contracts.map((each) => ({ ...each, openInterest: 900, volume: 25 })),
    };
    const interest = await diff(calm, elsewhere);
    expect(causesOf(interest)).toEqual(['openInterest']);
    expect(interest).toMatchObject({ callOi: -200, putOi: -100, volume: 45 });
    expect(interest.openInterest).toBeCloseTo(interest.gex, 4);

    const nervous = { ...calm, contracts: calm.contracts.map((each) => ({ ...each, volatility: 0.3 })) };
    expect(causesOf(await diff(calm, nervous))).toEqual(['volatility']);

    expect(causesOf(await diff(calm, { ...calm, atMs: nextMorning }))).toEqual(['time']);
    // Where the quotes imply no price, forwards move with the source's.
    const doubled = (made: HandMadeMarket, impliedSpot: number | null) => ({ ...made, impliedSpot });
    const risen = { ...calm, spot: 12_000, groups: calm.groups.map((g) => ({ ...g, forward: 2 * g.forward })) };
    expect(causesOf(await diff(doubled(calm, null), doubled(risen, 12_000)))).toEqual(['spot']);
  });

  test('is listing for contracts that one capture lacks, and for those that expired meanwhile', async () => {
    const [first, ...others] = calm.contracts;
    const listed = await diff({ ...calm, contracts: others }, calm);
    expect(causesOf(listed)).toEqual(['listing']);
    expect(listed).toMatchObject({ contractsAdded: 1, contractsRemoved: 0, callOi: 1000, volume: 10 });
    const own = blackGamma({ ...calm.groups[0]!, ...yearsAnd(first!), rate: 0.04, dividendYield: 0.01 });
    expect(listed.listing).toBeCloseTo(own * 1000 * 100 * 6000, 3);
    expect(listed.strikes.find(({ strike }) => strike === 6_050_000)!.listing).toBe(listed.listing);

    const expired = await diff(calm, { ...calm, atMs: newYork(near, '16:00') });
    expect(expired.contractsRemoved).toBe(2);
    expect(expired.expiries[0]).toMatchObject({ expiry: near, spot: 0, time: 0, volatility: 0, residual: 0 });
    expect(expired.expiries[0]!.listing).toBe(expired.expiries[0]!.gex);
    expect(causesOf({ ...expired, ...expired.expiries[1]! })).toEqual(['time']);
  });

  const yearsAnd = ({ strike, volatility }: HandMadeContract) => ({
    strike,
    volatility: volatility!,
    years: yearsLeft('SPXW', near, morning),
  });

  test('leaves to the residual what no step explains: another origin of gamma, and gammas that are not known', async () => {
    const vendor = {
      ...calm,
      contracts: calm.contracts.map((each, i) => ({ ...each, gamma: 0.001 * (i + 1), origin: 'source' as const })),
    };
    expect(causesOf(await diff(calm, vendor))).toEqual(['residual']);
    const unknown = { ...calm, contracts: calm.contracts.map((each) => ({ ...each, gamma: null, volatility: null })) };
    const lost = await diff(calm, unknown);
    expect(causesOf(lost)).toEqual(['residual']);
    expect(lost.residual).toBe(lost.gex);
    // With the same gammas of the source more contracts are open interest alone.
    const more = { ...vendor, contracts: vendor.contracts.map((each) => ({ ...each, openInterest: 1100 })) };
    expect(causesOf(await diff(vendor, more))).toEqual(['openInterest']);
  });
});
