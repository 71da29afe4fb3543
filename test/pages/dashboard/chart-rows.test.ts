import { use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import { describe, expect, test } from 'vitest';
import type {
  CrossSection,
  FlowEvent,
  FlowMeasures,
  GexCapture,
  GexHistory,
  LargeTrade,
  VolatilityExpiry,
} from '../../../generated/pages/operation-types.ts';
import { expiryColour, firstExpiries, smileOf } from '../../../src/pages/dashboard/client/chain/volatility-panels.ts';
import { init } from '../../../src/pages/dashboard/client/charts/chart-library.ts';
import { candlesElsewhere, nearRange } from '../../../src/pages/dashboard/client/charts/chart-look.ts';
import { followedWindow } from '../../../src/pages/dashboard/client/charts/drawn-chart.ts';
import { levelsOf, spread, typicalStep, weightyStrikes } from '../../../src/pages/dashboard/client/charts/levels.ts';
import { faded, noPalette } from '../../../src/pages/dashboard/client/charts/palette.ts';
import {
  callsAndPuts,
  expiryRows,
  flowTotals,
  strikeFlowOption,
  strikeRows,
} from '../../../src/pages/dashboard/client/flow/flow-bars.ts';
import { anyTrade, dollarsOf, expiriesOf, passes } from '../../../src/pages/dashboard/client/flow/trade-filter.ts';
import { drawnRange, strikeStep } from '../../../src/pages/dashboard/client/gex/gex-bars.ts';
import { heatCells, sessionSpan } from '../../../src/pages/dashboard/client/gex/gex-heat.ts';
import {
  candleScale,
  dayStarts,
  freePlace,
  namedLevels,
  priceRange,
  timeLabels,
  volumeEnd,
} from '../../../src/pages/dashboard/client/market/candles.ts';
import { candleOption } from '../../../src/pages/dashboard/client/market/candles-panel.ts';

import { newYork } from '../../support/option-market.ts';

// The page draws on canvases, which Node has not.
use([SVGRenderer]);

const at = (text: string) => Date.parse(text);

test('colours fade in both spellings that a style sheet has: one is black to a chart otherwise', () => {
  expect(faded('#14191e', 0.5)).toBe('#14191e80');
  expect(faded('#fff', 0.9)).toBe('#ffffffe6');
});

test('the price line is at the price of now, which the last candle may not have yet; of a past session, at its close', () => {
  const day = newYork('2026-11-20', '10:00');
  const bars = { tsMs: [day], open: [10], high: [12], low: [9], close: [11], volume: [5] };
  const palette = { ...noPalette, up: '#00ff00', down: '#ff0000' };
  const last = (live: number | null) => {
    const option = candleOption({ bars, timeframe: '1m', levels: [], live, palette });
    const [candles] = option.series as { markLine: { data: { name?: string }[] } }[];
    return candles!.markLine.data.find(({ name }) => name === 'Last');
  };
  expect(last(10.5)).toMatchObject({ yAxis: 10.5, label: { formatter: '10.50', backgroundColor: palette.down } });
  expect(last(null)).toMatchObject({ yAxis: 11, label: { formatter: '11.00', backgroundColor: palette.up } });
});

test('levels among the candles are lines; those beyond them, or covered by candles, are named at the edge', () => {
  const day = newYork('2026-11-20', '10:00');
  const of = (value: number) => Array.from({ length: 500 }, () => value);
  const tsMs = of(day).map((ms, i) => ms + i * 60_000);
  // The shown ones, the last 240, leave room above them but for the last 50.
  const high = of(11.2).map((value, i) => (i < 450 ? value : 12));
  const bars = { tsMs, open: of(10), high, low: of(9), close: of(11), volume: of(5) };
  const level = (name: string, price: number) => ({ name, at: price, colour: 'call' as const, dashed: true });
  const levels = [
    level('Flip', 11.5),
    level('Call wall', 50),
    level('Zero gamma', 13),
    level('Put wall', 1),
    level('Covered', 10),
  ];
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: 600, height: 390 });
  chart.setOption(candleOption({ bars, timeframe: '1m', levels, live: null, palette: noPalette }));
  const texts = [...chart.renderToSVGString().matchAll(/<text [^>]*translate\(([\d.]+) ([\d.]+)\)[^>]*>([^<]*)</g)];
  chart.dispose();
  const heights = new Map(texts.map(([, , y, text]) => [text, Number(y)]));
  const named = ['↑ Zero gamma 13.00', '↑ Call wall 50.00', 'Flip 11.50', '↓ Put wall 1.00', '┄ Covered 10.00'];
  expect(texts.map(([, , , text]) => text).filter((text) => named.includes(text!))).toHaveLength(5);
  expect(heights.get(named[0]!)).toBe(heights.get(named[1]!));
  expect(heights.get(named[4]!)).toBe(heights.get(named[1]!));
  expect(heights.get(named[1]!)).toBeLessThan(heights.get(named[2]!)!);
  expect(heights.get(named[2]!)).toBeLessThan(heights.get(named[3]!)!);
});

test('flow by strike lies to scale, calls upwards, puts downwards, with the spot where it is', () => {
  const measures = { callPremiumUsd: 5, putPremiumUsd: 3 } as FlowMeasures;
  const rows = strikeRows(
    [570_000, 600_000, 605_000, 610_000].map((strikeThousandths) => ({ strikeThousandths, measures })),
    'premium',
  );
  const option = strikeFlowOption(rows, 'premium', noPalette, 602.5);
  expect(option.xAxis).toMatchObject({ type: 'value', min: 565, max: 615 });
  const [calls, puts, spot] = option.series as { data: number[][]; markLine?: unknown }[];
  expect(calls!.data[0]).toEqual([570, 5]);
  expect(puts!.data[3]).toEqual([610, -3]);
  expect(spot!.markLine).toMatchObject({ data: [{ xAxis: 602.5 }] });
});

describe('candles', () => {
  const minute = 60_000;
  const every = (from: string, count: number, ms: number) => Array.from({ length: count }, (_, i) => at(from) + i * ms);
  // The last 29 minutes of a session, and the first 61 of the next.
  const tsMs = [...every('2026-11-19T20:31Z', 29, minute), ...every('2026-11-20T14:30Z', 61, minute)];

  test('have round times below them, days first, at any zoom', () => {
    expect(dayStarts(tsMs)).toEqual([29]);
    expect(timeLabels(tsMs, '1m', 12)).toEqual([
      [14, '15:45'],
      [29, 'Nov 20'],
      [44, '09:45'],
      [59, '10:00'],
      [74, '10:15'],
      [89, '10:30'],
    ]);
    // 09:35 would lie over the day.
    expect(timeLabels(tsMs.slice(25, 45), '1m', 6).map(([, text]) => text)).toEqual(['Nov 20', '09:40']);
    expect(timeLabels(tsMs, '1m', 200).map(([, text]) => text)).toEqual(['Nov 20']);
  });

  test('of an hour and of a day have days, months and years below them', () => {
    const hours = ['2026-11-19', '2026-11-20'].flatMap((day) => every(`${day}T14:00Z`, 7, 60 * minute));
    expect(timeLabels(hours, '1h', 3).map(([, text]) => text)).toEqual(['09:00', '12:00', 'Nov 20', '12:00', '15:00']);
    const days = every('2026-12-28T05:00Z', 40, 24 * 60 * minute);
    expect(timeLabels(days, '1d', 5).map(([, text]) => text)).toEqual(['2027', 'Jan 11', 'Jan 18', 'Jan 25', 'Feb']);
  });

  test('are not covered by the names of levels', () => {
    const candles = Array.from({ length: 20 }, (_, i) => ({ x: 10 * i, top: i < 10 ? 40 : 80, bottom: 100 }));
    const span = { left: 0, right: 200 };
    const name = { width: 60, height: 13 };
    expect(freePlace(candles, span, { ...name, top: 20 })).toBe(0);
    // Right of the high ones, which end at 90.
    expect(freePlace(candles, span, { ...name, top: 60 })).toBe(96);
    expect(freePlace(candles, span, { ...name, top: 85 })).toBeNull();
  });

  test('fill the axis of their prices, the price of now with them where it is near', () => {
    expect(candleScale(100, 110, null)).toEqual([99.4, 110.6]);
    expect(candleScale(100, 110, 105)).toEqual([99.4, 110.6]);
    expect(candleScale(100, 110, 112)).toEqual([99.4, 112.6]);
    expect(candleScale(100, 110, 99)).toEqual([98.4, 110.6]);
    // An earlier time is in sight.
    expect(candleScale(100, 110, 300)).toEqual([99.4, 110.6]);
    const [low, high] = candleScale(100, 100, null);
    expect(low).toBeLessThan(100);
    expect(high).toBeGreaterThan(100);
  });

  test('in a window that shows the end go on with it; a window of the past stays', () => {
    expect(followedWindow({ startValue: 0, endValue: 0 }, 1, 11)).toEqual({ startValue: 10, endValue: 10 });
    expect(followedWindow({ startValue: 40, endValue: 99 }, 100, 103)).toEqual({ startValue: 43, endValue: 102 });
    expect(followedWindow({ startValue: 40, endValue: 98 }, 100, 103)).toEqual({ startValue: 40, endValue: 98 });
  });

  test('have a range of prices', () => {
    const bars = { tsMs, open: [], close: [], low: [9, 9.5, 9, 9], high: [11, 11, 12, 11], volume: [] };
    expect(priceRange(bars)).toEqual({ low: 9, high: 12 });
    expect(priceRange({ tsMs: [], open: [], close: [], low: [], high: [], volume: [] })).toBeNull();
  });

  test('name levels highest first, those of one price together, the spot not at all', () => {
    const level = (name: string, price: number) => ({ name, at: price, colour: 'call' as const, dashed: true });
    const named = namedLevels([level('Spot', 5), level('Call wall', 7), level('Flip', 9), level('Put wall', 7)]);
    expect(named.map(({ name, at: price }) => [name, price])).toEqual([
      ['Flip', 9],
      ['Call wall, put wall', 7],
    ]);
  });

  test('have a volume axis that ends at a round number not much above the largest', () => {
    expect([0, 1, 9, 101, 880_000, 1_000_000, 4_200_000].map(volumeEnd)).toEqual([
      1, 1, 10, 150, 1_000_000, 1_000_000, 5_000_000,
    ]);
  });
});

describe('strikes', () => {
  test('far ones of next to no weight are not drawn, heavy ones are, wherever they lie', () => {
    const rows = Array.from({ length: 101 }, (_, i) => ({ strike: i, weight: i >= 40 && i <= 60 ? -100 : 0.01 }));
    const drawn = weightyStrikes(rows, ({ weight }) => weight);
    expect([drawn[0]!.strike, drawn.at(-1)!.strike]).toEqual([40, 60]);
    const far = rows.with(0, { strike: 0, weight: 500 });
    expect(weightyStrikes(far, ({ weight }) => weight)[0]!.strike).toBe(0);
    expect(
      weightyStrikes(
        rows.map((row) => ({ ...row, weight: 0 })),
        ({ weight }) => weight,
      ),
    ).toHaveLength(101);
  });

  test('bars are as high as strikes are typically apart, and the range reaches the spot', () => {
    expect(typicalStep([1, 2, 3, 3.5, 10])).toBe(1);
    expect(typicalStep([7])).toBeNull();
    expect(strikeStep([100_000, 105_000, 110_000, 110_500])).toBe(5);
    expect(strikeStep([100_000])).toBe(1);
    const row = (strike: number) => ({ strike, gex: 1, gex0dte: null, callOi: null, putOi: null });
    expect(
      drawnRange([row(100_000), row(110_000)], [{ name: 'Spot', at: 120, colour: 'text', dashed: false }], 1),
    ).toEqual([99, 121]);
    // A spot of another session is drawn at the edge.
    expect(
      drawnRange([row(100_000), row(110_000)], [{ name: 'Spot', at: 60, colour: 'text', dashed: false }], 1),
    ).toEqual([99, 111]);
  });

  test('labels of levels keep clear of each other, and stay beside the chart', () => {
    expect(spread([10, 50, 90], 15, 0, 100)).toEqual([10, 50, 90]);
    expect(spread([50, 51, 52], 15, 0, 100)).toEqual([50, 65, 80]);
    expect(spread([90, 95, 99], 15, 0, 100)).toEqual([70, 85, 100]);
    expect(spread([-5, 2], 15, 0, 100)).toEqual([0, 15]);
  });

  test('near the spot are eight to either side; candles that lie apart from them are named', () => {
    const rows = Array.from({ length: 61 }, (_, i) => ({ strike: 570_000 + i * 1000 }));
    const near = nearRange(rows, 601);
    expect(near).toEqual([593, 609]);
    expect(nearRange([], 601)).toBeNull();
    expect(nearRange(rows, null)).toBeNull();
    const bars = { tsMs: [1], open: [350], high: [352], low: [349], close: [351], volume: [1] };
    expect(candlesElsewhere(bars, '1m', near)).toEqual({ low: 349, high: 352 });
    expect(candlesElsewhere({ ...bars, high: [594] }, '1m', near)).toBeNull();
    expect(candlesElsewhere(bars, '1d', near)).toBeNull();
    expect(candlesElsewhere(null, '1m', near)).toBeNull();
  });

  test('the levels of a capture are in dollars; those unknown are left out, the newest spot counts, and zero gamma is first if the flip says less', () => {
    const capture = { spot: 600, flipPoint: null, callWall: 605_000, putWall: 590_500 } as GexCapture;
    expect(levelsOf(capture, 601).map(({ name, at: price }) => [name, price])).toEqual([
      ['Spot', 601],
      ['Call wall', 605],
      ['Put wall', 590.5],
    ]);
    expect(levelsOf(capture, null)[0]!.at).toBe(600);
    const both = { ...capture, flipPoint: 598, zeroGamma: 602 } as GexCapture;
    const names = (flipStatus: GexCapture['flipStatus']) =>
      levelsOf({ ...both, flipStatus }, null).map(({ name }) => name);
    expect(names('crosses')).toEqual(['Spot', 'Flip', 'Zero gamma', 'Call wall', 'Put wall']);
    expect(names(null)).toEqual(names('crosses'));
    for (const weak of ['partial', 'remote', 'fragile'] as const)
      expect(names(weak)).toEqual(['Spot', 'Zero gamma', 'Flip', 'Call wall', 'Put wall']);
    expect(levelsOf(null, null)).toEqual([]);
  });
});

describe('the heat map', () => {
  test('keeps a capture’s gamma at its strike and time; what a capture lacks stays empty', () => {
    const column = (capturedAt: number, spot: number | null, rows: [number, number][]) => ({
      capturedAt,
      spot,
      strikes: rows.map(([strike, gex]) => ({ strike, gex })),
    });
    const { strikes, cells, spot, step } = heatCells([
      column(1000, 100.5, [
        [100_000, 5],
        [101_000, -3],
      ]),
      column(3000, null, [[101_000, 4]]),
    ]);
    expect(strikes).toEqual([100_000, 101_000]);
    expect(step).toBe(1);
    // Each lasts until the next.
    expect(cells).toEqual([
      [1000, 100, 5, 2000],
      [1000, 101, -3, 2000],
      [3000, 101, 4, 2000],
    ]);
    expect(spot).toEqual([[1000, 100.5]]);
    expect(heatCells([])).toMatchObject({ strikes: [], cells: [], full: 1 });
  });

  test('spans the whole session, a half day too, and reaches captures outside of it', () => {
    const history = (clocks: string[], sessionClose: string | null): GexHistory => ({
      sessionDate: '2026-11-27',
      captures: clocks.map((clock) => ({ capturedAt: newYork('2026-11-27', clock), spot: 1, strikes: [] })),
      meta: { sessionOpen: '09:30', sessionClose },
    });
    expect(sessionSpan(history(['10:02'], '13:00'))).toEqual([
      newYork('2026-11-27', '09:30'),
      newYork('2026-11-27', '13:00'),
    ]);
    expect(sessionSpan(history(['09:25', '16:10'], null))).toEqual([
      newYork('2026-11-27', '09:25'),
      newYork('2026-11-27', '16:10'),
    ]);
    expect(sessionSpan(history([], null))).toBeNull();
  });
});

describe('flow', () => {
  const measures = (call: number, put: number): FlowMeasures => ({
    callPremiumUsd: call,
    putPremiumUsd: put,
    callVolume: call + 1,
    putVolume: put + 1,
    callTradeCount: call + 2,
    putTradeCount: put + 2,
  });

  test('is premium, contracts or prints, calls against puts', () => {
    expect(callsAndPuts(measures(10, 20), 'premium')).toEqual({ calls: 10, puts: 20 });
    expect(callsAndPuts(measures(10, 20), 'volume')).toEqual({ calls: 11, puts: 21 });
    expect(callsAndPuts(measures(10, 20), 'trades')).toEqual({ calls: 12, puts: 22 });
    expect(flowTotals([{ measures: measures(1, 2) }, { measures: measures(3, 4) }], 'premium')).toEqual({
      calls: 4,
      puts: 6,
    });
  });

  test('names strikes in dollars and expiries by date', () => {
    expect(strikeRows([{ strikeThousandths: 600_500, measures: measures(1, 1) }], 'premium')[0]!.name).toBe('600.5');
    expect(strikeRows([{ strikeThousandths: 600_500, measures: measures(1, 1) }], 'premium')[0]!.at).toBe(600.5);
    const [first, second] = expiryRows([
      { expiry: '2026-12-18', measures: measures(1, 1) },
      { expiry: '2027-01-15', measures: measures(1, 1) },
    ]);
    expect([first!.name, second!.name]).toEqual(['Dec 18', 'Jan 15 ’27']);
  });
});

describe('the smile', () => {
  const expiry = (date: string, dte: number, atmIv: number | null = 0.2): VolatilityExpiry => ({
    expiry: date,
    dte,
    atmIv,
    atmStrike: 100_000,
    contractCount: 1,
  });
  const point = (strike: number, right: 'call' | 'put', iv: number, date = 'a') => ({
    expiry: date,
    strike,
    right,
    iv,
  });

  test('takes the option out of the money at each strike, and the other one where it alone is known', () => {
    const points = [
      point(90_000, 'call', 0.9),
      point(90_000, 'put', 0.3),
      point(110_000, 'call', 0.25),
      point(110_000, 'put', 0.8),
      point(95_000, 'call', 0.5),
      point(100_000, 'put', 0.1, 'b'),
    ];
    expect(smileOf(points, expiry('a', 30), 100)).toEqual([
      { strike: 90, iv: 0.3, right: 'put' },
      { strike: 95, iv: 0.5, right: 'call' },
      { strike: 110, iv: 0.25, right: 'call' },
    ]);
  });

  test('leaves out strikes many deviations away', () => {
    expect(
      smileOf([point(10_000, 'put', 2), point(100_000, 'call', 0.2)], expiry('a', 1), 100).map(({ strike }) => strike),
    ).toEqual([100]);
  });

  test('first shows the nearest expiry, one a month away and the last, none of today', () => {
    const all = [
      expiry('today', 0),
      expiry('next', 1),
      expiry('week', 7),
      expiry('month', 28),
      expiry('unknown', 40, null),
      expiry('year', 365),
    ];
    expect(firstExpiries(all)).toEqual(['next', 'month', 'year']);
    expect(firstExpiries([])).toEqual([]);
    expect(expiryColour(all, 'week')).toBe(2);
  });
});

describe('the filter of trades', () => {
  const leg = (right: 'call' | 'put', expiry: string) => ({
    contract: { id: '', expiry, right, strike: 1 },
    price: 1,
    size: 1,
  });
  const event = {
    eventKind: 'sweep',
    side: 'buy_inferred',
    premiumUsd: 250_000,
    legs: [leg('call', '2026-12-18'), leg('put', '2027-01-15')],
  } as FlowEvent;

  test.each([
    [{}, true],
    [{ kind: 'sweep' }, true],
    [{ kind: 'multi_leg' }, false],
    [{ side: 'sell_inferred' }, false],
    [{ right: 'put' }, true],
    [{ right: 'put', expiry: '2026-12-18' }, false],
    [{ right: 'put', expiry: '2027-01-15' }, true],
    [{ minPremiumUsd: 250_000 }, true],
    [{ minPremiumUsd: 250_001 }, false],
  ] as const)('%j lets it through: %s', (filter, through) =>
    expect(passes(event, { ...anyTrade, ...filter })).toBe(through),
  );

  test.each([
    ['250k', 250_000],
    ['$1.5M', 1_500_000],
    ['12,500', 12_500],
    ['.5m', 500_000],
    ['lots', null],
    ['', null],
  ])('%s is an amount of %s dollars', (text, dollars) => expect(dollarsOf(text)).toBe(dollars));

  test('offers the expiries of the trades and of the flow', () => {
    const flow = { update: { byExpiration: [{ expiry: '2026-11-27' }, { expiry: '2026-12-18' }] } } as CrossSection;
    const trades = [{ seq: 1, update: { event } } as LargeTrade];
    expect(expiriesOf(trades, null)).toEqual(['2026-12-18', '2027-01-15']);
    expect(expiriesOf(trades, flow)).toEqual(['2026-11-27', '2026-12-18', '2027-01-15']);
  });
});
