import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { offExchangeFigures } from '../../../../src/core/analytics/offexchange/activity.ts';
import { bucketWidthMicros, concentrationOf } from '../../../../src/core/analytics/offexchange/concentration.ts';
import { collapse } from '../../../../src/core/analytics/offexchange/disclosure.ts';
import { addPrint, emptyTotal } from '../../../../src/core/analytics/prints/exact-sum.ts';
import { compositionCategories } from '../../../../src/core/domain/market/stock-trade-conditions.ts';
import { hasSharedData } from '../../../support/shared-data.ts';
import { offExchangePrint, runStockTape, sharedStockPrints, stockPrint } from '../../../support/tapes/stock-tape.ts';

function part(name: string, count: number) {
  const total = emptyTotal();
  for (let i = 0; i < count; i++) addPrint(total, 10_000, 100, 0, 1);
  return { name, total };
}
const counts = ({ published }: ReturnType<typeof collapse>) =>
  Object.fromEntries(published.map(({ name, total }) => [name, total.count]));

describe('disclosure', () => {
  test('small categories are together in other', () => {
    const parts = [
      part('average_price', 2),
      part('derivatively_priced', 1),
      part('package_price', 7),
      part('regular_way', 900),
    ];
    expect(counts(collapse(parts))).toEqual({ regular_way: 900, package_price: 7, other: 3 });
    expect(collapse(parts).suppressed).toBe(2);
  });

  test('an other of one or two takes the smallest category that is left', () => {
    const parts = [part('derivatively_priced', 1), part('package_price', 7), part('regular_way', 900)];
    expect(counts(collapse(parts))).toEqual({ regular_way: 900, other: 8 });
    expect(collapse(parts).suppressed).toBe(2);
  });

  test('an other of its own with one or two takes it too', () => {
    expect(counts(collapse([part('regular_way', 5), part('odd_lot', 4), part('other', 2)]))).toEqual({
      regular_way: 5,
      other: 6,
    });
  });

  test('no part is under three, and the parts add up to the whole', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(6), { minLength: 8, maxLength: 8 }), (sizes) => {
        const whole = sizes.reduce((sum, size) => sum + size, 0);
        fc.pre(whole >= 3);
        const { published } = collapse(compositionCategories.map((name, i) => part(name, sizes[i]!)));
        for (const { total } of published) expect(total.count).toBeGreaterThanOrEqual(3);
        expect(published.reduce((sum, { total }) => sum + total.count, 0)).toBe(whole);
        expect(published.reduce((sum, { total }) => sum + total.notional.whole, 0)).toBe(whole * 1_000_000);
      }),
    );
  });
});

describe('a session', () => {
  const prints = [
    offExchangePrint(0, 10, 100),
    offExchangePrint(1, 10.0051, 100),
    offExchangePrint(2, 10, 50.5, [37]),
    offExchangePrint(3, 9.5, 1000, [2]),
    offExchangePrint(4, 9.6, 1000, [2, 41]),
    offExchangePrint(5, 9.7, 1000, [2, 12]),
    offExchangePrint(6, 10, 100, [14, 41]),
    offExchangePrint(7, 77, 5000, [16]),
    stockPrint(8, 10, 4000),
    stockPrint(9, 77, 4000, [15]),
  ];
  const figures = offExchangeFigures(runStockTape(prints).offExchange('XYZ'));

  test('totals its executions, priced by those that say the price, and its share of all volume', () => {
    expect(figures.activity).toMatchObject({
      offExchVolume: 3350.5,
      notional: 32_305.51,
      tradeCount: 7,
      avgSize: 3350.5 / 7,
      offExchPct: 3350.5 / 7350.5,
      consolidatedVolume: 7350.5,
    });
    expect(figures.activity!.vwap).toBeCloseTo((1000 + 1000.51 + 505 + 1000) / 350.5, 10);
  });

  test('is composed of categories that add up to it', () => {
    expect(figures.composition.map(({ category, tradeCount }) => [category, tradeCount])).toEqual([
      ['average_price', 3],
      ['other', 4],
    ]);
    expect(figures.suppressedCategories).toBe(2);
    expect(figures.composition.reduce((sum, row) => sum + row.shareOfOffExchNotional, 0)).toBeCloseTo(1, 12);
  });

  test('without prints that say the price has the mean price of all', () => {
    const averages = [0, 1, 2].map((i) => offExchangePrint(i, 10 + i, 100, [2]));
    expect(offExchangeFigures(runStockTape(averages).offExchange('XYZ')).activity).toMatchObject({
      vwap: 11,
      offExchPct: 1,
    });
  });

  test('of fewer than three executions says nothing at all', () => {
    const tally = runStockTape([...prints.slice(0, 2), ...prints.slice(8)]).offExchange('XYZ');
    expect(offExchangeFigures(tally)).toEqual({
      activity: null,
      composition: [],
      suppressedCategories: 0,
      profile: [],
      suppressedLevels: 0,
    });
  });

  test('its profile shows price levels of three executions or more, and none that gives away one or two others', () => {
    const at = (dollars: number, times: number) =>
      Array.from({ length: times }, (_, i) => offExchangePrint(i, dollars, 100));
    const profile = (...list: Parameters<typeof runStockTape>[0][]) => {
      const { profile, suppressedLevels } = offExchangeFigures(
        runStockTape(list.flatMap((p) => [...p])).offExchange('XYZ'),
      );
      return [profile.map(({ priceThousandths, tradeCount }) => [priceThousandths, tradeCount]), suppressedLevels];
    };
    expect(profile(at(10, 5), at(10.01, 3), at(10.0155, 4))).toEqual([
      [
        [10_000, 5],
        [10_010, 3],
        [10_015, 4],
      ],
      0,
    ]);
    expect(profile(at(10, 5), at(10.01, 3), at(10.02, 1))).toEqual([[[10_000, 5]], 2]);
    expect(profile(at(10, 5), at(10.01, 2), at(10.02, 1))).toEqual([[[10_000, 5]], 2]);
  });
});

const conditions = [[], [14, 41], [37], [12], [2], [10], [53], [13], [20]];
const executions = fc
  .array(
    fc.record({ cents: fc.integer({ min: 990, max: 1010 }), shares: fc.nat(500), kind: fc.nat(conditions.length - 1) }),
    { minLength: 3, maxLength: 40 },
  )
  .map((list) =>
    list.map(({ cents, shares, kind }, i) => offExchangePrint(i, cents / 100, 1 + shares, conditions[kind])),
  );

test('the composition of any session adds up to its activity, and no row is under three', () => {
  fc.assert(
    fc.property(executions, (prints) => {
      const { activity, composition, profile } = offExchangeFigures(runStockTape(prints).offExchange('XYZ'));
      const sum = (of: (row: (typeof composition)[number]) => number) =>
        composition.reduce((total, row) => total + of(row), 0);
      expect(sum(({ tradeCount }) => tradeCount)).toBe(activity!.tradeCount);
      expect(sum(({ volume }) => volume)).toBe(activity!.offExchVolume);
      expect(sum(({ notional }) => notional)).toBeCloseTo(activity!.notional, 6);
      for (const { tradeCount } of [...composition, ...profile]) expect(tradeCount).toBeGreaterThanOrEqual(3);
    }),
  );
});

describe('one or two executions of a category', () => {
  const times = (count: number, dollars: number, ids?: number[]) =>
    Array.from({ length: count }, (_, i) => offExchangePrint(1000 * dollars + i, dollars, 100, ids));
  const figuresOf = (...prints: ReturnType<typeof times>[]) =>
    offExchangeFigures(runStockTape(prints.flat()).offExchange('XYZ'));

  test('that say the price are not in the vwap, the profile and the buckets, less the categories published', () => {
    const { activity, composition, profile } = figuresOf(
      times(9, 10),
      times(5, 10.5),
      times(1, 11, [37]),
      times(7, 12, [53]),
    );
    expect(composition.map(({ category, tradeCount }) => [category, tradeCount])).toEqual([
      ['regular_way', 14],
      ['other', 8],
    ]);
    expect(activity).toMatchObject({ tradeCount: 22, vwap: (9 * 10 + 5 * 10.5) / 14 });
    // One price-forming execution is in no level: the smallest level is withheld with it.
    expect(profile).toMatchObject([{ priceThousandths: 10_000, tradeCount: 9 }]);
  });

  test('that do not say the price are not what is left of other without those that do', () => {
    const { activity, composition, profile } = figuresOf(
      times(9, 10),
      times(2, 11, [37]),
      times(2, 11.5, [12]),
      times(1, 12, [10]),
    );
    expect(composition.at(-1)).toMatchObject({ category: 'other', tradeCount: 5 });
    expect(activity!.vwap).toBe(10);
    expect(profile).toMatchObject([{ priceThousandths: 10_000, tradeCount: 9 }]);
  });

  test('three that say the price are in all of them', () => {
    const { activity, profile, suppressedLevels } = figuresOf(times(9, 10), times(2, 11, [37]), times(1, 12, [12]));
    expect(activity!.vwap).toBeCloseTo((9 * 10 + 2 * 11 + 12) / 12, 12);
    expect([profile.map(({ tradeCount }) => tradeCount), suppressedLevels]).toEqual([[9], 2]);
  });
});

describe('concentration', () => {
  const level = (priceThousandths: number, tradeCount: number) => ({
    priceThousandths,
    volume: tradeCount * 100,
    notional: (tradeCount * 100 * priceThousandths) / 1000,
    tradeCount,
  });

  test('buckets are the largest of 1, 2.5, 5 times a power of ten within 0.05 % of the price, a cent at least', () => {
    const widths = [0.5, 14, 20, 49.99, 50, 100, 199, 200, 500, 620, 5000].map(
      (price) => bucketWidthMicros(price) / 1e6,
    );
    expect(widths).toEqual([0.01, 0.01, 0.01, 0.01, 0.025, 0.05, 0.05, 0.1, 0.25, 0.25, 2.5]);
  });

  test('ranks buckets by their share of the notional and the sessions they traded in', () => {
    const { rows, suppressedBuckets } = concentrationOf(
      [
        [level(10_000, 2), level(10_010, 6)],
        [level(10_004, 2), level(10_010, 6), level(10_050, 50)],
      ],
      10,
    );
    expect(suppressedBuckets).toBe(1);
    expect(
      rows.map(({ bucketMidpoint, tradeCount, distinctSessions, rank, bucketCount }) => [
        ...[bucketMidpoint, tradeCount, distinctSessions, rank, bucketCount],
      ]),
    ).toEqual([
      [10.015, 12, 2, 1, 2],
      [10.005, 4, 2, 2, 2],
    ]);
    const notional = 1201.2 * 10 + 4 * 100 * 10.002;
    expect(rows[0]!.rankScore).toBeCloseTo((100 * (12_012 / notional) * 2) / 20, 10);
    expect(rows[0]!.distanceBps).toBeCloseTo(15, 10);
    expect(rows[0]!.bucketWidth).toBe(0.01);
  });

  test('looks at the last 20 sessions', () => {
    const sessions = [[level(10_000, 9)], ...Array.from({ length: 20 }, () => [level(10_010, 1)])];
    expect(concentrationOf(sessions, 10).rows).toMatchObject([
      { bucketMidpoint: 10.015, distinctSessions: 20, rankScore: 100 },
    ]);
  });

  test('without a reference price there are no buckets', () => {
    expect(concentrationOf([[level(10_000, 9)], [level(10_000, 9)]], null).rows).toEqual([]);
  });
});

describe.skipIf(!hasSharedData)('real tapes', () => {
  const tape = runStockTape(hasSharedData ? sharedStockPrints('stocks_trades/BAC/2013-10-10.csv.gz') : [], {
    session: '2013-10-10',
  });
  const tally = tape.offExchange('BAC');
  const { activity, composition, profile } = offExchangeFigures(tally);

  test('BAC of 2013-10-10 put 37.5 % of its volume off exchange', () => {
    let [all, off] = [0, 0];
    for (const { exchange, size } of sharedStockPrints('stocks_trades/BAC/2013-10-10.csv.gz')) {
      all += size;
      if (exchange === 4) off += size;
    }
    expect([all, off]).toEqual([101_835_137, 38_230_536]);
    expect(off / all).toBeCloseTo(0.375, 3);
    // Official open and close prints are no volume: the share of what counts is a little larger.
    expect(activity!.offExchPct).toBeGreaterThan(off / all);
    expect(activity!.offExchPct).toBeCloseTo(0.375, 1);
    expect(activity!.tradeCount).toBe(46_969);
  });

  test('its composition adds up to its activity', () => {
    expect(composition.reduce((sum, { tradeCount }) => sum + tradeCount, 0)).toBe(activity!.tradeCount);
    expect(composition.reduce((sum, { volume }) => sum + volume, 0)).toBe(activity!.offExchVolume);
    expect(composition.reduce((sum, { notional }) => sum + notional, 0)).toBeCloseTo(activity!.notional, 4);
    expect(profile.reduce((sum, { tradeCount }) => sum + tradeCount, 0)).toBeLessThan(activity!.tradeCount);
  });

  test('its bars hold every print that counts', () => {
    const day = tape.bars('BAC', '1d');
    expect(day.volume[0]).toBe(activity!.consolidatedVolume);
    // 390 minutes, and that of the closing auction.
    expect(tape.bars('BAC', '1m').tsMs.length).toBe(391);
    expect(day.close[0]).toBe(14.23);
  });
});
