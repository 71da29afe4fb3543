import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { barAt, toBarColumns } from '../../src/core/domain/market/bar.ts';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { barBefore, dailyBarsAt, dailyPrice } from '../../src/live/daily-bars.ts';
import { barsAsOfNow } from '../../src/live/stock-bars.ts';
import { writeBars } from '../../src/store/market/bar-blocks.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { flatBar, storeDays, storeMinutes } from '../support/market.ts';
import { type TestStore, testStore } from '../support/store.ts';

// Thursday 2026-11-19 and Friday 2026-11-20; SPY's Friday is in the store whole, with minutes 09:30–15:59 at 500.00,
// 500.01, …
const friday = '2026-11-20';
let store: TestStore;

beforeAll(async () => {
  store = await testStore();
  await storeDays(store, 'SPY', { '2026-11-19': 499, [friday]: [503.89, 39_000] });
  await storeMinutes(
    store,
    'SPY',
    friday,
    Array.from({ length: 390 }, (_, i) => 500 + i / 100),
  );
  await storeDays(store, 'NOMIN', { '2026-11-19': 9, [friday]: 10 });
  await storeDays(store, 'NODAY', { '2026-11-19': 7 });
  await storeMinutes(store, 'NODAY', friday, [8, 8.5, 8.25]);
});
afterAll(() => store.close());

/** The last bar of a symbol at a minute of Friday in New York. */
async function lastAt(symbol: string, minute: number, date = friday) {
  return (await dailyBarsAt(store, [symbol], exchangeInstant(date, minute))).get(symbol)!.at(-1);
}

describe('daily bars at an instant', () => {
  test('are made from the minutes up to it where the stored bar knows of later ones', async () => {
    expect(await lastAt('SPY', 572)).toEqual({
      tsMs: exchangeInstant(friday),
      open: 500,
      high: 500.02,
      low: 500,
      close: 500.02,
      volume: 300,
      vwap: null,
      tradeCount: null,
    });
  });

  test('nothing of the session shows before its first minute', async () => {
    expect(await lastAt('SPY', 569)).toMatchObject({ close: 499 });
    expect(await lastAt('SPY', 0)).toMatchObject({ close: 499 });
  });

  test('are as stored once no later minute is known', async () => {
    expect(await lastAt('SPY', 959)).toMatchObject({ close: 503.89, volume: 39_000 });
    expect(await lastAt('SPY', 60, '2026-11-21')).toMatchObject({ close: 503.89, volume: 39_000 });
  });

  test('of a session with bars of extended hours have the prices of regular hours, and the volume of all', async () => {
    const extended = { ...store, endedBarsOnly: true, extendedBars: true };
    await storeDays(store, 'EXT', { '2026-11-19': 19, [friday]: [22, 700] });
    const minutes = [540, 541, 570, 571, 960, 1000, 1100].map((minute, i) =>
      flatBar(exchangeInstant(friday, minute), 20 + i, 100),
    );
    await inTransaction(store, (tx) => writeBars(tx, '1m', [{ symbol: 'EXT', bars: toBarColumns(minutes) }]));
    const last = async (minute: number) =>
      (await dailyBarsAt(extended, ['EXT'], exchangeInstant(friday, minute))).get('EXT')!.at(-1)!;
    expect(await last(560)).toMatchObject({ close: 19 });
    expect(await last(571)).toMatchObject({ open: 22, close: 22, volume: 300 });
    expect(await last(1050)).toMatchObject({ open: 22, high: 24, close: 24, volume: 600 });
    const reading = { store: extended, nowMs: exchangeInstant(friday, 1050), loaders: new Map() };
    const range = { fromMs: 0, toMs: exchangeInstant('2026-11-21'), limit: 10 };
    const { bars } = await barsAsOfNow(reading, 'EXT', '1d', range);
    expect(barAt(bars, 1)).toEqual(await last(1050));
  });

  test('without minutes the bar of a replayed session counts from its close on, on a half day from 13:00', async () => {
    const replay = { ...store, endedBarsOnly: true };
    const closeAt = async (symbol: string, date: string, minute: number) =>
      (await dailyBarsAt(replay, [symbol], exchangeInstant(date, minute))).get(symbol)!.at(-1)!.close;
    expect(await closeAt('NOMIN', friday, 959)).toBe(9);
    expect(await closeAt('NOMIN', friday, 960)).toBe(10);
    expect(await closeAt('NOMIN', friday, 1199)).toBe(10);
    const halfDay = '2026-11-27';
    await storeDays(store, 'HALF', { '2026-11-25': 3, [halfDay]: 4 });
    expect(await closeAt('HALF', halfDay, 779)).toBe(3);
    expect(await closeAt('HALF', halfDay, 780)).toBe(4);
  });

  test('without minutes the stored bar counts from the open on', async () => {
    expect(await lastAt('NOMIN', 569)).toMatchObject({ close: 9 });
    expect(await lastAt('NOMIN', 570)).toMatchObject({ close: 10 });
  });

  test('a session that has only minutes so far is made from them', async () => {
    expect(await lastAt('NODAY', 900)).toMatchObject({ open: 8, high: 8.5, low: 8, close: 8.25, volume: 300 });
  });

  test('of later sessions there is nothing, and of an unknown symbol none', async () => {
    expect(await lastAt('SPY', 900, '2026-11-18')).toBeUndefined();
    expect(await lastAt('NONE', 900)).toBeUndefined();
  });
});

describe('the price in daily bars', () => {
  const bars = ['2026-10-30', '2026-11-02', '2026-11-10'].map((date, i) => flatBar(exchangeInstant(date), i + 1));

  test('is the latest within ten calendar days, over a clock change too', () => {
    expect(dailyPrice(bars, exchangeInstant('2026-11-20', 1439))?.bar.close).toBe(3);
    expect(dailyPrice(bars, exchangeInstant('2026-11-21'))).toBeNull();
    expect(dailyPrice(bars, exchangeInstant('2026-11-09', 600))?.bar.close).toBe(2);
  });

  test('its prior close is the bar before, at most ten days earlier', () => {
    expect(dailyPrice(bars, exchangeInstant('2026-11-10', 600))?.before?.close).toBe(2);
    expect(dailyPrice(bars.slice(0, 1), exchangeInstant('2026-11-01'))?.before).toBeNull();
    expect(dailyPrice([bars[0]!, bars[2]!], exchangeInstant('2026-11-11'))?.before).toBeNull();
    expect(barBefore(bars, exchangeInstant('2026-10-30'))).toBeNull();
  });
});
