import { describe, expect, test } from 'vitest';
import { previousTradingDay } from '../../../../src/core/domain/calendar.ts';
import { addDays, exchangeInstant, type SessionDate } from '../../../../src/core/domain/market-time.ts';
import {
  type CorporateDataset,
  corporateFile,
  type DateRange,
} from '../../../../src/intake/sample/market/corporate.ts';
import { type SampleTask, samplePlan } from '../../../../src/intake/sample/market/plan.ts';
import { samplePrices } from '../../../../src/intake/sample/market/prices.ts';
import { sampleSymbolOf } from '../../../../src/intake/sample/market/universe.ts';

const prices = samplePrices();
const linesOf = (dataset: CorporateDataset, range: DateRange) =>
  corporateFile(prices, dataset, range).trim().split('\n').slice(1);
const at = (date: SessionDate) => exchangeInstant(date, 18 * 60);
const rangesOf = (tasks: SampleTask[], dataset: string) =>
  tasks.flatMap((task) => (task.dataset === dataset && 'range' in task ? [task.range] : []));

describe('splits of the sample market', () => {
  test('one or two lie in the history of a market made on any day', () => {
    for (let date = '2025-01-02'; date < '2029-01-01'; date = addDays(date, 23)) {
      const [range] = rangesOf(samplePlan(at(date), null), 'splits');
      expect([1, 2], date).toContain(linesOf('splits', range!).length);
    }
  });

  test.each([
    ['2026-06-10', 2],
    ['2027-06-10', 0.5],
  ])('%s: prices are printed in the shares of their session, and continuous in those of one', (exDate, ratio) => {
    const lines = linesOf('splits', { after: previousTradingDay(exDate), through: exDate });
    expect(lines).toEqual([`TQQQ,${exDate},${ratio > 1 ? '2:1' : '1:2'},${addDays(exDate, -14)}`]);
    const entry = sampleSymbolOf('TQQQ');
    const before = prices.of(entry, previousTradingDay(exDate));
    const after = prices.of(entry, exDate);
    expect(after.priorClose).toBeCloseTo(before.close / ratio, 1);
    expect(Math.abs(Math.log(after.close / (before.close / ratio)))).toBeLessThan(0.2);
    expect(Math.abs(Math.log(after.open / after.priorClose))).toBeLessThan(0.15);
    const volume = (date: SessionDate) => prices.minutes(entry, date).volume.reduce((sum, each) => sum + each, 0);
    expect(Math.abs(Math.log(volume(exDate) / (ratio * volume(previousTradingDay(exDate)))))).toBeLessThan(1.5);
  });
});

describe('dividends of the sample market', () => {
  test('are a quarter of the yield that its chains are priced with, four times a year', () => {
    const lines = linesOf('dividends', { after: '2025-12-31', through: '2026-12-31' }).map((line) => line.split(','));
    const of = (symbol: string) => lines.filter(([each]) => each === symbol);
    for (const symbol of ['SPY', 'QQQ', 'AAPL', 'JNJ']) expect(of(symbol), symbol).toHaveLength(4);
    for (const symbol of ['SPX', 'TSLA', 'BRK.B', 'TQQQ']) expect(of(symbol), symbol).toHaveLength(0);
    expect(of('SPY').map(([, exDate]) => exDate)).toEqual(['2026-03-20', '2026-06-18', '2026-09-18', '2026-12-18']);
    for (const [symbol, exDate, amount] of lines) {
      const { priorClose } = prices.of(sampleSymbolOf(symbol!), exDate!);
      expect(Number(amount)).toBeCloseTo(0.003 * priorClose, 1);
    }
  });

  test('have their ex-dates no later than the first session with chains, whenever the market is made and extended', () => {
    const firstChains = (tasks: SampleTask[]) =>
      tasks.flatMap((task) => (task.dataset === 'chain' ? [task.session] : [])).sort()[0]!;
    const whole = samplePlan(at('2026-11-24'), null);
    const [once] = rangesOf(whole, 'dividends');
    expect(once!.through).toBe(firstChains(whole));
    const [first] = rangesOf(samplePlan(at('2026-11-10'), null), 'dividends');
    const [then] = rangesOf(samplePlan(at('2026-11-24'), at('2026-11-10')), 'dividends');
    expect(then!.after).toBe(first!.through);
    expect(then!.through).toBe(once!.through);
    const joined = [...linesOf('dividends', { ...once!, through: first!.through }), ...linesOf('dividends', then!)];
    expect(joined).toEqual(linesOf('dividends', once!));
  });
});

test('the sample market’s curve is that of its chains as far as these reach, and is known every month', () => {
  const lines = linesOf('rates', { after: '2026-09-30', through: '2026-12-31' }).map((line) => line.split(','));
  expect([...new Set(lines.map(([date]) => date))]).toEqual(['2026-10-01', '2026-11-02', '2026-12-01']);
  for (const [, days, rate] of lines) if (Number(days) <= 182) expect(Number(rate)).toBe(0.045);
  expect(lines.filter(([, days]) => days === '730').map(([, , rate]) => rate)).toEqual(['0.0420', '0.0420', '0.0420']);
});
