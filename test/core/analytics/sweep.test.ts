import { expect, test } from 'vitest';
import { print, quote, runTape, spyCall, tapeStart } from '../../support/tapes/option-tape.ts';

const market = quote(0, 1.2, 1.25);
const first = print(0, 400, 1.25, 302);
const second = print(60, 250, 1.27, 316);

test('prints of one side on two exchanges within 100 ms are one sweep', () => {
  const { events } = runTape([market, first, second]);
  expect(events).toHaveLength(1);
  expect(events[0]).toMatchObject({
    eventId: `sweep:${spyCall.id}:${tapeStart}:${first.sequence}`,
    eventKind: 'sweep',
    underlying: 'SPY',
    eventTsMs: tapeStart,
    totalSize: 650,
    premiumUsd: 81_750,
    priceLow: 1.25,
    priceHigh: 1.27,
    side: 'buy_inferred',
    multiLeg: false,
  });
  expect(events[0]!.legs.map(({ exchange, size, premiumUsd }) => ({ exchange, size, premiumUsd }))).toEqual([
    { exchange: 302, size: 400, premiumUsd: 50_000 },
    { exchange: 316, size: 250, premiumUsd: 31_750 },
  ]);
});

test('a sweep of exactly the least premium is kept, one a hundredth of a cent a share cheaper is not', () => {
  const swept = (dollars: number) =>
    runTape([market, print(0, 300, dollars, 302), print(60, 100, dollars, 316)]).events;
  expect(swept(1.25)).toMatchObject([{ eventKind: 'sweep', totalSize: 400, premiumUsd: 50_000 }]);
  expect(swept(1.2499)).toEqual([]);
});

test('on one exchange they are two blocks, each below the threshold', () => {
  const { events, tape } = runTape([market, first, { ...second, exchange: 302 }]);
  expect(events).toEqual([]);
  expect(tape.ranked.tops()[0]!.prints.map(({ eventId }) => eventId.split(':')[0])).toEqual([
    'single_block',
    'single_block',
  ]);
});

test('180 ms apart they are no sweep', () => {
  expect(runTape([market, first, print(180, 250, 1.27, 316)]).events).toEqual([]);
});

test('a gap of 100 ms is within, one nanosecond more is not', () => {
  const at = (tsNanos: number) => runTape([market, first, print(100, 250, 1.27, 316, { tsNanos })]).events.length;
  expect([at(0), at(1)]).toEqual([1, 0]);
});

test('a sweep ends 500 ms after its first print, and the print after begins the next', () => {
  const steps = [0, 90, 180, 270, 360, 450, 540, 600];
  const prints = steps.map((ms, i) => print(ms, 400, 1.25, i % 2 ? 316 : 302));
  const { events } = runTape([market, ...prints]);
  expect(events.map(({ legs }) => legs.map(({ eventTsMs }) => eventTsMs - tapeStart))).toEqual([
    [0, 90, 180, 270, 360, 450],
    [540, 600],
  ]);
});

test('prints of the other side in between do not end a sweep', () => {
  const { events } = runTape([market, first, print(30, 10, 1.2, 302), second]);
  expect(events.map(({ eventKind, totalSize }) => [eventKind, totalSize])).toEqual([['sweep', 650]]);
});

test('auction prints are swept only when they are part of an intermarket sweep order', () => {
  const kind = (conditions: number[]) =>
    runTape([market, print(0, 900, 1.25, 302, { conditions }), print(20, 900, 1.25, 316, { conditions })]).events.map(
      ({ eventKind, side }) => [eventKind, side],
    );
  expect(kind([228])).toEqual([['sweep', 'buy_inferred']]);
  expect(kind([227])).toEqual([
    ['single_block', 'buy_inferred'],
    ['single_block', 'buy_inferred'],
  ]);
});

test('without quotes prints are swept with their sides unknown', () => {
  expect(runTape([first, second]).events).toMatchObject([{ eventKind: 'sweep', side: 'unknown', totalSize: 650 }]);
});
