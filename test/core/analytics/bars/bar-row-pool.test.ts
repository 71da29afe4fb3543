import { expect, it } from 'vitest';
import {
  addToBar,
  type BarRows,
  barsOfRows,
  createBarRows,
  emptyBar,
} from '../../../../src/core/analytics/bars/bar-rows.ts';
import { BarRowPool } from '../../../../src/core/analytics/bars/option-bars-from-prints.ts';
import { ordinaryOptionTraits } from '../../../../src/core/domain/flow/option-trade-conditions.ts';
import { randomFrom } from '../../../../src/intake/sample/market/random.ts';

const before = (a: number, b: number) => a < b;

it('buckets of many series in shared memory are those of every series by itself, whatever the order of the prints', () => {
  const random = randomFrom(5);
  const pool = new BarRowPool();
  const alone = new Map<number, BarRows>();
  // More buckets than a block of memory holds.
  for (let entry = 0; entry < 20_000; entry++) {
    const series = Math.floor(random.next() * 700);
    const startMs = 60_000 * (1 + Math.floor(random.next() * 20));
    const rows = alone.get(series) ?? createBarRows();
    alone.set(series, rows);
    const print = {
      entry,
      price: Math.ceil(random.next() * 1e5),
      size: 1 + (entry % 9),
      sizeMicros: 0,
      // Now and then one that is in no bar.
      traits: entry % 50 === 0 ? 0 : ordinaryOptionTraits,
    };
    if (random.next() < 0.01) {
      pool.empty(series, startMs);
      emptyBar(rows, startMs);
    }
    pool.add(series, startMs, print, before);
    addToBar(rows, startMs, print, before);
  }
  expect([...alone.values()].reduce((sum, { count }) => sum + count, 0)).toBeGreaterThan(2 * 4096);
  for (const [series, rows] of alone) {
    expect(barsOfRows(pool.rows(series, -Infinity), -Infinity)).toEqual(barsOfRows(rows, -Infinity));
    expect(barsOfRows(pool.rows(series, 600_000), 0)).toEqual(barsOfRows(rows, 600_000));
  }
});

it('a series that was never met has no buckets', () => {
  expect(new BarRowPool().rows(100_000, -Infinity).count).toBe(0);
});
