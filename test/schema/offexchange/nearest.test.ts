import { afterAll, beforeAll, expect, test } from 'vitest';
import { saveGexCapture } from '../../../src/store/gex/captures.ts';
import { saveSplits } from '../../../src/store/market/splits.ts';
import { saveOffExchange } from '../../../src/store/offexchange/writing.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { type Json, type TestApp, testApp } from '../../support/app.ts';
import { offExchangeRows } from '../../support/off-exchange.ts';
import { gexCapture, newYork } from '../../support/option-market.ts';
import { statementsOf, withoutCommits } from '../../support/statements.ts';

// Friday 2026-11-20, 12:00 in New York.
const nowMs = newYork('2026-11-20', '12:00');
const strikes = Array.from({ length: 40 }, (_, i) => 590 + i);
/** Midpoints of price buckets, by rank. */
const midpoints = [600.5, 595.25, 629.9, 700.125, 588];
const sessions = ['2026-11-18', '2026-11-19'] as const;
let app: TestApp;

async function storeLevels(symbol: string, scale: number): Promise<void> {
  const { concentration, profile, composition } = offExchangeRows({ buckets: midpoints.length, levels: 3 });
  await inTransaction(app.store, async (tx) => {
    for (const [day, sessionDate] of sessions.entries())
      await saveOffExchange(
        tx,
        {
          symbol,
          sessionDate,
          asOfMs: nowMs,
          suppressedCategories: 0,
          suppressedBuckets: 0,
          suppressedLevels: 0,
          activity: {
            offExchVolume: 1e6,
            notional: 6e8,
            avgSize: 100,
            vwap: 600,
            tradeCount: 10_000,
            offExchPct: null,
            consolidatedVolume: null,
            consolidatedNotional: null,
          },
        },
        {
          composition,
          profile,
          // The buckets of the session before lie a dollar lower.
          concentration: concentration.map((row, i) => ({
            ...row,
            bucketMidpoint: scale * (midpoints[i]! - (day === 0 ? 1 : 0)),
          })),
        },
      );
  });
}

beforeAll(async () => {
  app = await testApp({ nowMs });
  const rows = strikes.map((strike) => ({ strike: 1000 * strike, expiry: '2026-12-18', gex: strike }));
  await inTransaction(app.store, async (tx) => {
    for (const symbol of ['SPY', 'NVDA'])
      for (const date of ['2026-11-19', '2026-11-20'])
        await saveGexCapture(tx, gexCapture(symbol, newYork(date, '10:00'), rows));
    await saveSplits(tx, [{ symbol: 'NVDA', exDate: '2026-11-20', ratio: 4, declared: null }]);
  });
  await storeLevels('SPY', 1);
  await storeLevels('NVDA', 4);
});
afterAll(() => app.close());

/** The strike with the smallest distance, found by trying all; of two, the lower one. */
function nearest(price: number): { strike: number; distance: number } {
  const ordered = strikes.toSorted((a, b) => Math.abs(a - price) - Math.abs(b - price) || a - b);
  return { strike: ordered[0]!, distance: ordered[0]! - price };
}

const fromLevels = (symbol: string) => `{ symbol(symbol: "${symbol}") { offExchange { concentration { rows {
  date bucketMidpoint nearestStrike { distance distanceBps strike { strike gex } } } } } } }`;

test.each([
  ['SPY', 1],
  ['NVDA, in shares of the capture after a split of 4:1', 4],
])('each price bucket of %s leads to the strike nearest to it, found by trying all', async (name, factor) => {
  const { data, errors } = await app.graphql(fromLevels(name.slice(0, 4).replace(',', '')));
  expect(errors).toBeUndefined();
  const { rows } = data.symbol.offExchange.concentration;
  expect(rows).toHaveLength(midpoints.length);
  for (const [i, { date, bucketMidpoint, nearestStrike }] of rows.entries()) {
    const price = midpoints[i]!;
    const { strike, distance } = nearest(price);
    expect([date, bucketMidpoint]).toEqual(['2026-11-19', factor * price]);
    expect(nearestStrike.strike).toEqual({ strike: 1000 * strike, gex: strike });
    expect(nearestStrike.distance).toBeCloseTo(distance, 9);
    expect(nearestStrike.distanceBps).toBeCloseTo((1e4 * distance) / price, 6);
  }
  // The lower of two strikes that are equally near.
  expect(rows[0].nearestStrike.strike.strike).toBe(600_000);
});

test('each price of a session leads to the strike nearest to it', async () => {
  const { data } = await app.graphql(
    '{ symbol(symbol: "SPY") { offExchange { profile { rows { priceThousandths nearestStrike { strike { strike } distance } } } } } }',
  );
  const rows = data.symbol.offExchange.profile.rows.map((row: Json) => [
    row.priceThousandths,
    row.nearestStrike.strike.strike,
    row.nearestStrike.distance.toFixed(3),
  ]);
  expect(rows).toEqual([
    [600_000, 600_000, '0.000'],
    [600_010, 600_000, '-0.010'],
    [600_020, 600_000, '-0.020'],
  ]);
});

test('each strike leads to the price bucket nearest to it, of the session that was published when it was captured', async () => {
  const edge = 'strikes { strike nearestLevel { distance level { date bucketMidpoint rank } } }';
  const { data, errors } = await app.graphql(
    `{ symbol(symbol: "SPY") { gex { latest { ${edge} } at(time: "2026-11-19") { ${edge} } } } }`,
  );
  expect(errors).toBeUndefined();
  for (const [time, date, shift] of [
    ['latest', '2026-11-19', 0],
    // When this one was captured, the session of its own day was not over.
    ['at', '2026-11-18', 1],
  ] as const)
    for (const { strike, nearestLevel } of data.symbol.gex[time].strikes) {
      const prices = midpoints.map((midpoint) => midpoint - shift);
      const best = Math.min(...prices.map((price) => Math.abs(price - strike / 1000)));
      expect(Math.abs(nearestLevel.distance)).toBeCloseTo(best, 9);
      expect(nearestLevel.level).toEqual({
        date,
        bucketMidpoint: prices[nearestLevel.level.rank - 1],
        rank: nearestLevel.level.rank,
      });
      expect(nearestLevel.distance).toBeCloseTo(nearestLevel.level.bucketMidpoint - strike / 1000, 9);
    }
});

test('without a capture, or without a published session, there is none', async () => {
  const { data } = await app.graphql(
    `{ a: asOf(at: "2026-11-19T09:00") ${fromLevels('SPY')} b: asOf(at: "2026-11-19T10:30") { symbol(symbol: "MSFT") { gex { latest { capturedAt } } } } }`,
  );
  expect(data.a.symbol.offExchange.concentration.rows[0]).toMatchObject({ date: '2026-11-18', nearestStrike: null });
  await inTransaction(app.store, (tx) =>
    saveGexCapture(
      tx,
      gexCapture('MSFT', newYork('2026-11-19', '10:00'), [{ strike: 400_000, expiry: '2026-12-18', gex: 1 }]),
    ),
  );
  const other = await app.graphql(
    '{ symbol(symbol: "MSFT") { gex { latest { strikes { strike nearestLevel { distance } } } } } }',
  );
  expect(other.data.symbol.gex.latest.strikes).toEqual([{ strike: 400_000, nearestLevel: null }]);
});

test('forty strikes and five levels take as many statements as one', async () => {
  const count = async (document: string) => withoutCommits(await statementsOf(() => app.graphql(document))).length;
  const strikesOf = (top: number) =>
    `{ symbol(symbol: "SPY") { gex { latest(topStrikes: ${top}) { strikes { nearestLevel { distance } } } } } }`;
  expect(await count(strikesOf(40))).toBe(await count(strikesOf(1)));
  const levelsOf = (limit: number) =>
    `{ symbol(symbol: "SPY") { offExchange { concentration(limit: ${limit}) { rows { nearestStrike { distance } } } } } }`;
  expect(await count(levelsOf(5))).toBe(await count(levelsOf(1)));
});

test('gamma stands without the off-exchange data that may not be read, which errs at its path', async () => {
  const { data, errors } = await app.graphql(
    '{ symbol(symbol: "SPY") { gex { latest(topStrikes: 1) { strikes { gex nearestLevel { distance } } } } } }',
    {},
    { credential: await app.key({ apiTier: 'free' }) },
  );
  expect(data.symbol.gex.latest.strikes).toEqual([{ gex: 629, nearestLevel: null }]);
  expect(errors).toMatchObject([
    { path: ['symbol', 'gex', 'latest', 'strikes', 0, 'nearestLevel'], extensions: { code: 'not_entitled_tier' } },
  ]);
});
