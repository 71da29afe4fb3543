import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Timeframe } from '../../../../src/core/domain/market/bar.ts';
import type { StockPrint } from '../../../../src/core/domain/market/print.ts';
import { exchangeInstant } from '../../../../src/core/domain/market-time.ts';
import { runStockTape, stockBars, stockPrint, stockSession, stockStart } from '../../../support/tapes/stock-tape.ts';

const minute = [
  stockPrint(0, 100, 100),
  stockPrint(10_000, 101, 5, [37]),
  stockPrint(20_000, 99, 200, [32]),
  stockPrint(30_000, 100.2, 300),
  stockPrint(40_000, 98, 1000, [2]),
];

test('odd lots and average prices set no price, a sold print no open or close, all count in volume', () => {
  const [bar, ...others] = stockBars(runStockTape(minute), '1m');
  expect(others).toEqual([]);
  expect(bar).toMatchObject({
    tsMs: stockStart,
    open: 100,
    high: 100.2,
    low: 99,
    close: 100.2,
    volume: 1605,
    tradeCount: 5,
  });
  expect(bar!.vwap).toBeCloseTo(99.7667, 4);
});

test('official open and close prints never count', () => {
  const official = [stockPrint(50_000, 150, 1000, [15]), stockPrint(1, 50, 1000, [16])];
  expect(stockBars(runStockTape([...minute, ...official]), '1m')).toEqual(stockBars(runStockTape(minute), '1m'));
});

test('a minute without a price has no bar, its volume goes to the day', () => {
  const tape = runStockTape([...minute, stockPrint(90_000, 97, 700, [2]), stockPrint(150_000, 96, 1.5, [37])]);
  expect(stockBars(tape, '1m').map(({ tsMs }) => tsMs)).toEqual([stockStart]);
  expect(stockBars(tape, '5m')[0]!.volume).toBe(1605);
  expect(stockBars(tape, '1d')).toMatchObject([
    {
      tsMs: exchangeInstant(stockSession),
      open: 100,
      high: 100.2,
      low: 99,
      close: 100.2,
      volume: 2306.5,
      tradeCount: 7,
    },
  ]);
});

test('an out-of-sequence print alone makes no bar but is in the range of the day', () => {
  const tape = runStockTape([...minute, stockPrint(90_000, 90, 100, [32])]);
  expect(stockBars(tape, '1m')).toHaveLength(1);
  expect(stockBars(tape, '1d')[0]).toMatchObject({ low: 90, open: 100, close: 100.2 });
});

describe('corrections', () => {
  const [first, ...rest] = minute as [StockPrint, ...StockPrint[]];
  const message = (correction: number, given: Partial<StockPrint> = {}): StockPrint => ({
    ...first,
    correction,
    tsMs: first.tsMs + 300_000,
    sequence: 9999,
    ...given,
  });

  test.each([7, 8, 10, 11])('code %i drops the original, whichever came first', (code) => {
    const without = stockBars(runStockTape(rest), '1m');
    expect(stockBars(runStockTape([...minute, message(code)]), '1m')).toEqual(without);
    expect(stockBars(runStockTape([message(code), ...minute]), '1m')).toEqual(without);
  });

  test('a corrected trade replaces the original at its instant, and the message with the wrong data changes nothing', () => {
    const corrected = { ...first, correction: 1, price: 1_005_000, size: 50 };
    const wanted = stockBars(runStockTape([{ ...first, price: 1_005_000, size: 50 }, ...rest]), '1m');
    expect(wanted[0]).toMatchObject({ open: 100.5, volume: 1555 });
    for (const order of [
      [...minute, corrected, message(12)],
      [message(12), corrected, ...minute],
      [corrected, ...rest, message(12), first],
      [...rest, corrected],
    ]) {
      expect(stockBars(runStockTape(order), '1m')).toEqual(wanted);
    }
  });

  test('a message with other data than the original replaces it at the original instant', () => {
    const wanted = stockBars(runStockTape([{ ...first, price: 1_005_000 }, ...rest]), '1m');
    const other = message(12, { price: 1_005_000 });
    expect(stockBars(runStockTape([...minute, other]), '1m')).toEqual(wanted);
    expect(stockBars(runStockTape([other, ...minute]), '1m')).toEqual(wanted);
  });

  test('of several messages with other data the last said stands, whichever came first', () => {
    const [earlier, later] = [
      message(12, { price: 1_005_000 }),
      message(12, { price: 1_003_000, tsMs: first.tsMs + 400_000 }),
    ];
    const wanted = stockBars(runStockTape([{ ...first, price: 1_003_000 }, ...rest]), '1m');
    expect(stockBars(runStockTape([...minute, earlier, later]), '1m')).toEqual(wanted);
    expect(stockBars(runStockTape([...minute, later, earlier]), '1m')).toEqual(wanted);
    expect(stockBars(runStockTape([earlier, ...minute, later]), '1m')).toEqual(wanted);
  });

  test('a record that comes twice counts once', () => {
    const tape = runStockTape([...minute, ...minute]);
    expect(stockBars(tape, '1m')).toEqual(stockBars(runStockTape(minute), '1m'));
    expect(tape.counts.duplicates).toBe(5);
  });

  test('the same id on another exchange or facility is another trade', () => {
    const others = [
      { ...first, exchange: 12 },
      { ...first, exchange: 4, trf: 201 },
      { ...first, exchange: 4, trf: 202 },
    ];
    expect(stockBars(runStockTape([first, ...others]), '1m')[0]!.volume).toBe(400);
  });
});

describe('the official close', () => {
  const trade = stockPrint(0, 100, 100);
  const auction = stockPrint(1000, 101, 5000, [19], { exchange: 10 });
  const official = stockPrint(2000, 102, 5000, [15], { exchange: 10 });
  const elsewhere = stockPrint(3000, 103, 100, [15], { exchange: 12 });
  /** The close of the day's bar; null without one. Tape 1 is listed on exchange 10. */
  const close = (prints: StockPrint[], tape = 1) =>
    stockBars(runStockTape(prints.map((print) => ({ ...print, tape }))), '1d')[0]?.close ?? null;

  test('is the listing exchange’s official print, else its closing auction, else the last eligible price', () => {
    expect(close([trade, auction, official, elsewhere])).toBe(102);
    expect(close([trade, auction, elsewhere])).toBe(101);
    expect(close([trade, elsewhere])).toBe(100);
    expect(close([trade, auction, elsewhere], 0)).toBe(101);
    expect(close([trade, official, elsewhere], 0)).toBe(100);
    expect(close([])).toBeNull();
  });

  test('stands although its print is forgotten', () => {
    const later = Array.from({ length: 8192 }, (_, i) => stockPrint(4000 + i, 100, 1, [12]));
    expect(stockBars(runStockTape([trade, official, ...later], { remembered: 4096 }), '1d')[0]!.close).toBe(102);
  });

  test('falls back when its print is withdrawn', () => {
    expect(close([trade, auction, official, { ...official, correction: 8 }])).toBe(101);
  });

  test('is the latest price of the tape, at its time, in place of the last eligible one', () => {
    const latest = (prints: StockPrint[]) =>
      runStockTape(prints.map((print) => ({ ...print, tape: 1 }))).latest(trade.symbol);
    expect(latest([trade, elsewhere])).toMatchObject({ price: 100, tsMs: stockStart });
    expect(latest([trade, official, elsewhere])).toMatchObject({ price: 102, tsMs: stockStart + 2000 });
    const withdrawn = { ...official, correction: 8 };
    expect(latest([trade, auction, official, withdrawn])).toMatchObject({ price: 101, tsMs: stockStart + 1000 });
  });
});

test('a bar is complete 15 s after its end', () => {
  const tape = runStockTape([stockPrint(0, 100, 100)]);
  tape.advance(stockStart + 74_999);
  expect(tape.completeThrough('1m')).toBe(stockStart - 60_000);
  tape.advance(stockStart + 75_000);
  expect(tape.completeThrough('1m')).toBe(stockStart);
  expect(tape.completeThrough('5m')).toBe(stockStart - 300_000);
  expect(tape.completeThrough('1d')).toBeNull();
});

test('what changed is told once, from its first second on, and can be read from there', () => {
  const tape = runStockTape([...minute, stockPrint(70_500, 101, 100)]);
  expect(tape.takeChanged()).toEqual([{ symbol: 'XYZ', fromMs: stockStart }]);
  expect(tape.takeChanged()).toEqual([]);
  const late = stockPrint(66_200, 99.5, 100);
  tape.print(late);
  expect(tape.takeChanged()).toEqual([{ symbol: 'XYZ', fromMs: stockStart + 66_000 }]);
  tape.print({ ...late, correction: 10, tsMs: late.tsMs + 9000 });
  expect(tape.takeChanged()).toEqual([{ symbol: 'XYZ', fromMs: stockStart + 66_000 }]);
  for (const frame of ['1s', '1m', '5m', '1d'] as const) {
    const all = stockBars(tape, frame);
    const from = all.at(-1)!.tsMs;
    expect(Array.from(tape.bars('XYZ', frame, from).close)).toEqual([all.at(-1)!.close]);
    expect(Array.from(tape.bars('XYZ', frame, from).volume)).toEqual([all.at(-1)!.volume]);
  }
});

test('the latest price is the last that sets a close, also after it is taken back', () => {
  const last = stockPrint(70_500, 101, 100);
  const tape = runStockTape([...minute, last, stockPrint(80_000, 103, 10, [37])]);
  expect(tape.latest('XYZ')).toEqual({ price: 101, tsMs: stockStart + 70_500, volume: 1715 });
  tape.print({ ...last, correction: 8 });
  expect(tape.latest('XYZ')).toEqual({ price: 100.2, tsMs: stockStart + 30_000, volume: 1615 });
  expect(tape.latest('ABC')).toBeNull();
});

test('prints forgotten are counted as they were', () => {
  const prints = Array.from({ length: 10_000 }, (_, i) => stockPrint(i * 50, 100 + (i % 7), 10));
  expect(stockBars(runStockTape(prints, { remembered: 4096 }), '1s')).toEqual(stockBars(runStockTape(prints), '1s'));
});

const conditionSets = [[], [], [14, 41], [37], [32], [2], [12], [15], [10, 41], [38]];
const prints = fc
  .array(
    fc.record({
      ms: fc.integer({ min: 0, max: 400_000 }),
      price: fc.integer({ min: 990_000, max: 1_010_000 }),
      shares: fc.oneof(
        fc.integer({ min: 1, max: 500 }),
        fc.integer({ min: 1, max: 5_000_000 }).map((n) => n / 1e6),
      ),
      conditions: fc.constantFrom(...conditionSets),
      off: fc.boolean(),
    }),
    { minLength: 1, maxLength: 50 },
  )
  .map((list) =>
    list.map(({ ms, price, shares, conditions, off }) =>
      stockPrint(ms, price / 10_000, shares, conditions, off ? { exchange: 4, trf: 202 } : {}),
    ),
  );
const frames: Timeframe[] = ['1s', '1m', '5m', '1h', '1d'];

describe('whatever the prints', () => {
  test('low ≤ open, close, vwap ≤ high', () => {
    fc.assert(
      fc.property(prints, (list) => {
        const tape = runStockTape(list);
        for (const { open, high, low, close, vwap } of frames.flatMap((frame) => stockBars(tape, frame))) {
          for (const price of [open, close, ...(vwap === null ? [] : [vwap])]) {
            expect(price).toBeGreaterThanOrEqual(low);
            expect(price).toBeLessThanOrEqual(high);
          }
        }
      }),
    );
  });

  test('five 1m bars are the 5m bar', () => {
    fc.assert(
      fc.property(prints, (list) => {
        const tape = runStockTape(list);
        const minutes = stockBars(tape, '1m');
        for (const five of stockBars(tape, '5m')) {
          const parts = minutes.filter(({ tsMs }) => tsMs >= five.tsMs && tsMs < five.tsMs + 300_000);
          expect(five).toMatchObject({
            open: parts[0]!.open,
            high: Math.max(...parts.map(({ high }) => high)),
            low: Math.min(...parts.map(({ low }) => low)),
            close: parts.at(-1)!.close,
            tradeCount: parts.reduce((sum, { tradeCount }) => sum + tradeCount!, 0),
          });
          expect(five.volume).toBeCloseTo(
            parts.reduce((sum, { volume }) => sum + volume, 0),
            6,
          );
        }
      }),
    );
  });

  test('their order changes nothing, nor do repeats, nor trades that are cancelled', () => {
    fc.assert(
      fc.property(prints, prints, fc.infiniteStream(fc.nat()), (list, cancelled, keys) => {
        const drops = cancelled.map((print) => ({ ...print, correction: 8, sequence: print.sequence + 1e6 }));
        const all = [...list, ...list, ...cancelled, ...drops]
          .map((print) => ({ print, key: keys.next().value }))
          .sort((a, b) => a.key - b.key)
          .map(({ print }) => print);
        const [plain, shuffled] = [runStockTape(list), runStockTape(all)];
        for (const frame of frames) expect(stockBars(shuffled, frame)).toEqual(stockBars(plain, frame));
        const tally = plain.offExchange('XYZ');
        const other = shuffled.offExchange('XYZ');
        expect({ ...other, levels: new Map([...other.levels].sort()) }).toEqual({
          ...tally,
          levels: new Map([...tally.levels].sort()),
        });
      }),
    );
  });
});

describe('bars of extended hours', () => {
  const hours = (hour: number) => (hour - 10) * 3_600_000;
  const [night, early, before, open, after, late] = [3.9, 4.5, 9.4, 9.5, 16.5, 20].map(hours) as [
    ...[number, number, number, number, number, number],
  ];
  const tape = [
    stockPrint(night, 90, 10, [12]),
    stockPrint(early, 95, 20, [12]),
    stockPrint(early + 1000, 94, 30, [12, 37]),
    stockPrint(before, 96, 40, [12]),
    stockPrint(open, 100, 100),
    stockPrint(open + 1000, 130, 50, [12]),
    stockPrint(after, 105, 60, [12]),
    stockPrint(after + 1000, 106, 70, [12]),
    stockPrint(after + 2000, 107, 80, [13]),
    stockPrint(late - 1, 104, 90, [12]),
  ];
  const times = (timeframe: Timeframe, extendedBars: boolean) =>
    stockBars(runStockTape(tape, { extendedBars }), timeframe).map(({ tsMs }) => (tsMs - stockStart) / 3_600_000 + 10);

  test('are made from 04:00 to 20:00, where Form T forms prices and other conditions do what they did', () => {
    expect(times('1h', false)).toEqual([9]);
    expect(times('1h', true)).toEqual([4, 9, 16, 19]);
    const [first] = stockBars(runStockTape(tape, { extendedBars: true }), '1m');
    expect(first).toMatchObject({ open: 95, high: 95, low: 95, close: 95, volume: 50, tradeCount: 2 });
    const [, , , evening] = stockBars(runStockTape(tape, { extendedBars: true }), '1m');
    expect(evening).toMatchObject({ open: 105, high: 106, low: 105, close: 106, volume: 210, tradeCount: 3 });
    expect(times('1s', true)).toHaveLength(6);
  });

  test('leave the session’s own bars, the day and the price as they are; the day counts all', () => {
    const [regular, extended] = [runStockTape(tape), runStockTape(tape, { extendedBars: true })];
    expect(stockBars(extended, '1d')).toEqual(stockBars(regular, '1d'));
    expect(stockBars(regular, '1d')).toMatchObject([{ open: 100, high: 100, low: 100, close: 100, volume: 550 }]);
    expect(extended.latest('XYZ')).toEqual(regular.latest('XYZ'));
    const own = (tape: typeof regular) => stockBars(tape, '1m').filter(({ tsMs }) => tsMs === stockStart + open);
    expect(own(extended)).toEqual(own(regular));
    expect(own(extended)).toMatchObject([{ high: 100, volume: 150 }]);
  });

  test('depend on the prints alone: in any order, and with one that is taken back', () => {
    const cancelled = stockPrint(after + 500, 110, 5, [12]);
    const whole = [...tape, cancelled, { ...cancelled, correction: 8, sequence: 9e6 }];
    const expected = stockBars(runStockTape(tape, { extendedBars: true }), '1s');
    fc.assert(
      fc.property(fc.shuffledSubarray(whole, { minLength: whole.length }), (prints) => {
        expect(stockBars(runStockTape(prints, { extendedBars: true }), '1s')).toEqual(expected);
      }),
    );
  });
});
