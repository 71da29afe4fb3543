import { expect, test } from 'vitest';
import { barAt } from '../../../../src/core/domain/market/bar.ts';
import { aggregateBars } from '../../../../src/core/domain/market/bar-aggregation.ts';
import { contract, print, runTape, spyCall, tapeStart } from '../../../support/tapes/option-tape.ts';

const put = contract('O:SPY240419P00500000');

function barsOf(records: Parameters<typeof runTape>[0], timeframe: '1m' | '5m' = '1m') {
  const minutes = runTape(records).tape.bars.minutes(spyCall);
  const columns = timeframe === '1m' ? minutes : aggregateBars(minutes, timeframe);
  return Array.from(columns.tsMs, (_, i) => barAt(columns, i));
}

test('a minute holds its prints from its left edge on: open, high, low, close, volume, vwap, count', () => {
  const bars = barsOf([
    print(0, 10, 1.5, 302),
    print(20_000, 30, 1.7, 316),
    print(59_999, 10, 1.4, 302),
    print(60_000, 5, 1.6, 302),
    print(60_001, 99, 9, 302, { contract: put }),
  ]);
  expect(bars).toEqual([
    { tsMs: tapeStart, open: 1.5, high: 1.7, low: 1.4, close: 1.4, volume: 50, vwap: 1.6, tradeCount: 3 },
    { tsMs: tapeStart + 60_000, open: 1.6, high: 1.6, low: 1.6, close: 1.6, volume: 5, vwap: 1.6, tradeCount: 1 },
  ]);
});

test('late prints are in no bar, extended-hours prints in the volume only', () => {
  const bars = barsOf([
    print(0, 10, 1.5, 302),
    print(1, 100, 9, 302, { conditions: [204] }),
    print(2, 100, 9, 302, { conditions: [248] }),
    print(60_000, 100, 9, 302, { conditions: [248] }),
  ]);
  expect(bars).toEqual([
    { tsMs: tapeStart, open: 1.5, high: 1.5, low: 1.5, close: 1.5, volume: 110, vwap: 1.5, tradeCount: 2 },
  ]);
});

test('five minutes are their minutes together, vwap exact', () => {
  const prints = Array.from({ length: 40 }, (_, i) => print(i * 10_000, 1 + (i % 7), 1 + i / 100, 302));
  const minutes = barsOf(prints);
  const fives = barsOf(prints, '5m');
  expect(fives.map(({ tsMs }) => tsMs - tapeStart)).toEqual([0, 300_000]);
  for (const five of fives) {
    const parts = minutes.filter(({ tsMs }) => tsMs >= five.tsMs && tsMs < five.tsMs + 300_000);
    const volume = parts.reduce((sum, bar) => sum + bar.volume, 0);
    expect(five).toMatchObject({
      open: parts[0]!.open,
      high: Math.max(...parts.map(({ high }) => high)),
      low: Math.min(...parts.map(({ low }) => low)),
      close: parts.at(-1)!.close,
      volume,
    });
    const within = prints.filter(({ tsMs }) => tsMs >= five.tsMs && tsMs < five.tsMs + 300_000);
    const units = within.reduce((sum, { price, size }) => sum + price * size, 0);
    expect(five.vwap).toBe(units / volume / 10_000);
  }
});

test('only followed contracts have bars, and those that changed are told once', () => {
  const { tape } = runTape([print(0, 10, 1.5, 302), print(1, 10, 2, 302, { contract: put })], {
    followed: ({ contract }) => contract.right === 'put',
  });
  expect(tape.bars.minutes(spyCall).tsMs).toHaveLength(0);
  expect(tape.bars.takeChanged()).toEqual([{ contract: put, fromMs: tapeStart }]);
  expect(tape.bars.takeChanged()).toEqual([]);
});
