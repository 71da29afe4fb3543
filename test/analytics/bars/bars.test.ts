import { describe, expect, test } from 'vitest';
import { aggregateBars, oneBar } from '../../../src/analytics/bars/bars.ts';
import { type Bar, toBarColumns } from '../../../src/domain/bar.ts';

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
      vwap: (100.5 * 100 + 101.5 * 200 + 102.5 * 300) / 600,
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
