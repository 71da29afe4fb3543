import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Bar, barAt } from '../../../src/domain/market/bar.ts';
import { barBatch, slices } from '../../../src/ingest/files/bar-batch.ts';

const bar: fc.Arbitrary<Bar> = fc.record({
  tsMs: fc.integer({ min: 0, max: 20 }),
  open: fc.nat(),
  high: fc.nat(),
  low: fc.nat(),
  close: fc.nat(),
  volume: fc.nat(),
  vwap: fc.option(fc.nat(), { nil: null }),
  tradeCount: fc.option(fc.nat(), { nil: null }),
});

test('a batch gives each key its bars in order of time, the last of an instant, whatever order they came in', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom('A', 'B', 'C'), bar), { maxLength: 60 }), (pushed) => {
      const batch = barBatch(4);
      for (const [key, one] of pushed) batch.push(key, one);
      expect(batch.size()).toBe(pushed.length);
      const expected = [...new Set(pushed.map(([key]) => key))].sort().map((key) => {
        const byInstant = new Map(pushed.filter(([other]) => other === key).map(([, one]) => [one.tsMs, one]));
        return [key, [...byInstant.values()].sort((a, b) => a.tsMs - b.tsMs)];
      });
      const runs = [...batch.runs()].map(([key, bars]) => [key, Array.from(bars.tsMs, (_, i) => barAt(bars, i))]);
      expect(runs).toEqual(expected);
    }),
  );
});

test('slices leave nothing out and are never longer than asked', () => {
  expect([...slices([1, 2, 3, 4, 5], 2)]).toEqual([[1, 2], [3, 4], [5]]);
  expect([...slices([], 2)]).toEqual([]);
});
