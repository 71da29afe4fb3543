import { beforeAll, describe, expect, test } from 'vitest';
import { conventionFigures } from '../../../../src/core/analytics/gex/convention-figures.ts';
import { solveCapture } from '../../../../src/core/analytics/gex/solve-capture.ts';
import type { ChainCapture, ChainRow } from '../../../../src/core/domain/chain/chain.ts';
import { lastInstant, optionRoots } from '../../../../src/core/domain/chain/option-root.ts';
import {
  type ConventionPreset,
  captureConvention,
  conventionPresets,
  type GexConvention,
} from '../../../../src/core/domain/gex/convention.ts';
import type { GexCapture } from '../../../../src/core/domain/gex/gex.ts';
import { hasSharedData, sharedData } from '../../../support/shared-data.ts';
import { readChain } from '../../../support/tapes/chain-reading.ts';

const roots = optionRoots({ entries: [], indices: ['SPX', 'NDX', 'RUT'] });
const rate = 0.045;

const named = (preset: ConventionPreset, more: Partial<GexConvention> = {}): GexConvention => ({
  ...captureConvention,
  gamma: 'solved',
  ...conventionPresets[preset],
  ...more,
});

/** Days Monday to Friday from a date up to another one, by counting them. */
function weekdays(from: string, to: string): number {
  let count = 0;
  for (let ms = Date.parse(from); ms < Date.parse(to); ms += 86_400_000)
    if (new Date(ms).getUTCDay() % 6 !== 0) count++;
  return count;
}

/** The listed contracts that have not ended, and what a contract has. */
function live(chain: ChainCapture): ChainRow[] {
  return chain.rows.filter(({ root, expiry }) => {
    const { settlement } = roots.of(root, chain.sessionDate);
    return lastInstant(expiry, settlement) > chain.capturedAt;
  });
}

const counts: Record<GexConvention['weight'], (row: ChainRow) => number> = {
  open_interest: ({ openInterest }) => openInterest ?? 0,
  volume: ({ volume }) => volume ?? 0,
  open_interest_and_volume: ({ openInterest, volume }) => (openInterest ?? 0) + (volume ?? 0),
};

/** A contract as it is re-priced. */
interface Repriced {
  /** Contracts, negative for puts. */
  size: number;
  strike: number;
  sigma: number;
  time: number;
}

/** Contracts with a volatility, their time to expiry in weekdays. */
function repriced(rows: readonly ChainRow[], count: (row: ChainRow) => number, from: string): Repriced[] {
  const expiries = new Set(rows.map(({ expiry }) => expiry));
  const times = new Map([...expiries].map((expiry) => [expiry, Math.max(weekdays(from, expiry), 1) / 262]));
  return rows.flatMap((row) => {
    const size = (row.right === 'call' ? 1 : -1) * count(row);
    return row.iv && size !== 0
      ? [{ size, strike: row.strike / 1000, sigma: row.iv, time: times.get(row.expiry)! }]
      : [];
  });
}

/** Zero crossing of re-priced gamma, nearest to the price, on straight lines between 60 levels; r = q = 0. */
function crossing(contracts: readonly Repriced[], price: number): number {
  const total = (level: number) =>
    contracts.reduce((sum, { size, strike, sigma, time }) => {
      const d1 = (Math.log(level / strike) + 0.5 * sigma ** 2 * time) / (sigma * Math.sqrt(time));
      const gamma = Math.exp(-0.5 * d1 ** 2) / Math.sqrt(2 * Math.PI) / (level * sigma * Math.sqrt(time));
      return sum + gamma * size * 100 * level * level * 0.01;
    }, 0);
  const levels = Array.from({ length: 60 }, (_, i) => price * (0.8 + (0.4 * i) / 59));
  const profile = levels.map(total);
  const found = levels.flatMap((level, i) => {
    const [a, b] = [profile[i]!, profile[i + 1]!];
    if (i === 59 || a > 0 === b > 0) return [];
    return [level + ((levels[i + 1]! - level) * a) / (a - b)];
  });
  return found.sort((a, b) => Math.abs(a - price) - Math.abs(b - price))[0]!;
}

/** Sum by strike, thousandths. */
function byStrike(rows: readonly ChainRow[], value: (row: ChainRow) => number): Map<number, number> {
  const sums = new Map<number, number>();
  for (const row of rows) sums.set(row.strike, (sums.get(row.strike) ?? 0) + value(row));
  return sums;
}

/** The first strike of the largest value. */
const strikeOf = (sums: Map<number, number>, sign = 1) =>
  [...sums].sort(([a, x], [b, y]) => sign * (y - x) || a - b)[0]![0];

const files = [
  ['spx_20240107.csv.gz', 'SPX'],
  ['spx_20221212.csv.gz', 'SPX'],
  ['ndx_20221212.csv.gz', 'NDX'],
  ['rut_20221212.csv.gz', 'RUT'],
  ['rut_20230921_delayed_quotes.json.gz', 'RUT'],
  ['spy_20250501T1649.csv.gz', 'SPY'],
  ['spy_20250903T0924.csv.gz', 'SPY'],
] as const;

describe.skipIf(!hasSharedData).each(files)('conventions of %s (needs ../shared/data)', (file) => {
  let chain: ChainCapture;
  let capture: GexCapture;
  let price: number;
  let rows: ChainRow[];
  let day: string;
  const of = async (convention: GexConvention) => (await conventionFigures(chain, convention, { roots, rate }))!;

  beforeAll(async () => {
    const read = await readChain(sharedData(`chains_cboe/${file}`), () => {});
    const settings = { roots, rate, gammaSource: 'solve', previousSolves: async () => new Map() } as const;
    const solved = await solveCapture(read.capture, settings);
    [chain, capture] = [solved.chain, solved.gex!];
    price = chain.spot!;
    rows = live(chain);
    day = new Intl.DateTimeFormat('sv-SE', { timeZone: 'America/New_York' }).format(chain.capturedAt);
  });

  test('by default they are those of the GEX capture, to the last bit', async () => {
    const figures = await of(named('capture'));
    const { netGex, flipPoint, flipStatus, callWall, putWall, contractCount, oiCoverage } = capture;
    expect(figures).toMatchObject({ net: netGex, flip: flipPoint, flipStatus, callWall, putWall, contractCount });
    expect(figures.coverage).toBe(oiCoverage);
    expect(figures.strikes).toEqual(capture.strikes.map(({ strike, gex }) => ({ strike, value: gex })));
    expect(figures.expiries).toEqual(capture.expiries.map(({ expiry }) => expiry));
    const { callWall: call, putWall: put, flip } = await of(named('capture', { walls: 'one_sided', flip: 'repriced' }));
    expect([call, put, flip]).toEqual([capture.callGexPeak, capture.putGexPeak, capture.zeroGamma]);
  });

  test('with the source’s gammas they are those of a capture of these', async () => {
    const settings = { roots, rate, gammaSource: 'vendor', previousSolves: async () => new Map() } as const;
    const { gex } = await solveCapture(chain, settings);
    const figures = await of(named('capture', { gamma: 'vendor', flip: 'repriced' }));
    expect(figures).toMatchObject({ net: gex!.netGex, flip: gex!.zeroGamma, callWall: gex!.callWall });
  });

  test('an expiry’s max pain is that of the capture', async () => {
    for (const { expiry, maxPain } of capture.expiries.slice(0, 5))
      expect((await of(named('capture', { expiries: 'list', dates: [expiry] }))).maxPain, expiry).toBe(maxPain);
  });

  test.each(['open_interest', 'volume', 'open_interest_and_volume'] as const)(
    'the profile of the source by %s is what another program makes of the rows',
    async (weight) => {
      const figures = await of(named('vendor_profile', { weight, walls: 'one_sided' }));
      const count = counts[weight];
      const value = (row: ChainRow) =>
        (row.right === 'call' ? 1 : -1) * (row.gamma ?? 0) * count(row) * 100 * price * 0.01 * price;
      const sums = byStrike(rows, value);
      const net = [...sums.values()].reduce((sum, each) => sum + each, 0);
      const gross = rows.reduce((sum, row) => sum + Math.abs(value(row)), 0);
      expect(Math.abs(figures.net! - net) / gross).toBeLessThan(1e-12);
      for (const { strike, value: each } of figures.strikes)
        expect(Math.abs(each - sums.get(strike)!) / gross, String(strike)).toBeLessThan(1e-12);
      const sided = (right: string) =>
        byStrike(
          rows.filter((row) => row.right === right),
          (row) => Math.abs(value(row)),
        );
      expect(figures.callWall).toBe(strikeOf(sided('call')));
      expect(figures.putWall).toBe(strikeOf(sided('put')));
      expect(figures.flip).toBeCloseTo(crossing(repriced(rows, count, day), price), 6);
    },
  );

  test('solved, in shares, of 30 days and of monthly expiries', async () => {
    const within = (row: ChainRow) => (Date.parse(row.expiry) - Date.parse(day)) / 86_400_000 <= 30;
    const isThird = ({ expiry }: ChainRow) => {
      const date = new Date(expiry);
      // The Thursday before Good Friday of 2025, and before Juneteenth of 2026.
      return (
        (date.getUTCDay() === 5 && Math.ceil(date.getUTCDate() / 7) === 3) ||
        ['2025-04-17', '2026-06-18'].includes(expiry)
      );
    };
    for (const [set, isIn] of [
      [{ expiries: 'within_days', withinDays: 30 }, within],
      [{ expiries: 'monthly' }, isThird],
    ] as const) {
      const figures = await of(named('shares', { ...set, years: 'weekdays_262', flip: 'repriced' }));
      const chosen = rows.filter(isIn);
      const value = (row: ChainRow) =>
        (row.right === 'call' ? 1 : -1) * (row.solved?.gamma ?? 0) * (row.openInterest ?? 0) * 100;
      const sums = byStrike(chosen, value);
      const gross = chosen.reduce((sum, row) => sum + Math.abs(value(row)), 0);
      const net = [...sums.values()].reduce((sum, each) => sum + each, 0);
      expect(Math.abs(figures.net! - net) / gross).toBeLessThan(1e-12);
      expect(figures.expiries).toEqual([...new Set(chosen.map(({ expiry }) => expiry))].sort());
      expect([figures.callWall, figures.putWall]).toEqual([strikeOf(sums), strikeOf(sums, -1)]);
      const held = (right: string) => byStrike(chosen, (row) => (row.right === right ? (row.openInterest ?? 0) : 0));
      const [calls, puts] = [[...held('call')], [...held('put')]];
      const pain = calls.map(([settled]) => {
        const called = calls.reduce((sum, [strike, open]) => sum + open * Math.max(0, settled - strike), 0);
        const put = puts.reduce((sum, [strike, open]) => sum + open * Math.max(0, strike - settled), 0);
        return [called + put, settled] as const;
      });
      expect(figures.maxPain).toBe(pain.sort(([a, x], [b, y]) => a - b || x - y)[0]![1]);
    }
  });
});

describe.skipIf(!hasSharedData)('published figures (needs ../shared/data)', () => {
  test('the S&P 500 of 2024-01-07 by vendor_profile: −11.00 Bn per 1%, and zero gamma at 4734.48', async () => {
    const { capture } = await readChain(sharedData('chains_cboe/spx_20240107.csv.gz'), () => {});
    const figures = (await conventionFigures(capture, named('vendor_profile'), { roots, rate }))!;
    expect((figures.net! / 1e9).toFixed(2)).toBe('-11.00');
    expect(figures.flip!.toFixed(2)).toBe('4734.48');
  });
});
