import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Bar, toBarColumns } from '../../../../src/core/domain/market/bar.ts';
import { aggregateBars, oneBar } from '../../../../src/core/domain/market/bar-aggregation.ts';

const startMs = Date.parse('2026-11-19T14:30:00Z');
const minute = (index: number, change: Partial<Bar> = {}): Bar => ({
  tsMs: startMs + index * 60_000,
  open: 100 + index,
  high: 102 + index,
  low: 99 + index,
  close: 101 + index,
  volume: 100 * (index + 1),
  vwap: 100.5 + index,
  tradeCount: 10 + index,
  ...change,
});

describe('minutes as one bar', () => {
  test('have the vwap of their volume and the trades of all, as the longer bar made of them has', () => {
    const minutes = toBarColumns([minute(0), minute(1), minute(2)]);
    const one = oneBar(minutes, startMs);
    expect(one).toEqual({
      tsMs: startMs,
      open: 100,
      high: 104,
      low: 99,
      close: 103,
      volume: 600,
      // As of prints, whose money is in 1e-4 dollars.
      vwap: (1_005_000 * 100 + 1_015_000 * 200 + 1_025_000 * 300) / 600 / 10_000,
      tradeCount: 33,
    });
    expect(toBarColumns([one!])).toEqual(aggregateBars(minutes, '5m'));
  });

  test('leave unknown what is unknown of one of them, and are none where there are none', () => {
    const one = oneBar(toBarColumns([minute(0), minute(1, { vwap: null, tradeCount: null })]), startMs);
    expect(one).toMatchObject({ volume: 300, vwap: null, tradeCount: null });
    expect(oneBar(toBarColumns([]), startMs)).toBeNull();
  });
});

describe('a vwap of prints', () => {
  // Prices in 1e-4 dollars, sizes in contracts; a print without a priced size counts in the volume alone.
  const prints = fc.array(
    fc.record({
      minute: fc.nat(4),
      units: fc.integer({ min: 1, max: 20_000_000 }),
      size: fc.integer({ min: 1, max: 90_000 }),
    }),
    { minLength: 1, maxLength: 40 },
  );
  const unpriced = fc.array(fc.nat(500), { minLength: 5, maxLength: 5 });

  test('is the same to the last bit, whether it is made of the minutes or of the prints', () => {
    fc.assert(
      fc.property(prints, unpriced, (all, beside) => {
        const bars = [0, 1, 2, 3, 4].flatMap((index) => {
          const own = all.filter((print) => print.minute === index);
          if (own.length === 0) return [];
          const priced = own.reduce((sum, { size }) => sum + size, 0);
          const units = own.reduce((sum, print) => sum + print.units * print.size, 0);
          const prices = own.map((print) => print.units / 10_000);
          const [low, high] = [Math.min(...prices), Math.max(...prices)];
          const vwap = Math.min(high, Math.max(low, units / priced / 10_000));
          return [{ bar: minute(index, { low, high, vwap, volume: priced + beside[index]! }), priced, units }];
        });
        const columns = {
          ...toBarColumns(bars.map(({ bar }) => bar)),
          pricedVolume: Float64Array.from(bars, ({ priced }) => priced),
        };
        const [priced, units] = [bars.map((bar) => bar.priced), bars.map((bar) => bar.units)].map((values) =>
          values.reduce((a, b) => a + b),
        );
        const low = Math.min(...bars.map(({ bar }) => bar.low));
        const high = Math.max(...bars.map(({ bar }) => bar.high));
        expect(aggregateBars(columns, '5m').vwap[0]).toBe(Math.min(high, Math.max(low, units! / priced! / 10_000)));
      }),
    );
  });

  test('does not count minutes whose volume has no price, and is unknown where none has', () => {
    const minutes = toBarColumns([minute(0, { vwap: 2, volume: 30 }), minute(1, { vwap: null, volume: 50 })]);
    const five = (pricedVolume: number[]) =>
      aggregateBars({ ...minutes, pricedVolume: Float64Array.from(pricedVolume) }, '5m');
    expect(five([10, 0])).toMatchObject({ volume: Float64Array.of(80), vwap: Float64Array.of(2) });
    expect(five([0, 0]).vwap[0]).toBeNaN();
  });

  test('does not count minutes without volume, which have no price', () => {
    const minutes = toBarColumns([minute(0, { vwap: 2, volume: 30 }), minute(1, { vwap: null, volume: 0 })]);
    expect(aggregateBars(minutes, '5m').vwap).toEqual(Float64Array.of(2));
  });
});
