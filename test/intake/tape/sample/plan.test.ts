import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  isHalfDay,
  isTradingDay,
  nextTradingDay,
  previousTradingDay,
  regularSession,
} from '../../../../src/core/domain/calendar.ts';
import { exchangeInstant, type SessionDate } from '../../../../src/core/domain/market-time.ts';
import {
  isCorporate,
  isTape,
  latestSession,
  type SampleTask,
  samplePlan,
  samplePlanBesideTape,
  sampleShape,
  untilLatest,
} from '../../../../src/intake/sample/market/plan.ts';
import { tapeEndMs } from '../../../../src/intake/sample/market/tape-shape.ts';

const at = (date: SessionDate, clock: string) => {
  const [hour, minute] = clock.split(':').map(Number) as [number, number];
  return exchangeInstant(date, hour * 60 + minute);
};

describe('the latest session', () => {
  test.each([
    ['before the open', '2026-11-19', '09:29', '2026-11-18'],
    ['at the open, with no minute complete', '2026-11-19', '09:30', '2026-11-18'],
    ['a minute after the open', '2026-11-19', '09:31', '2026-11-19'],
    ['after the close', '2026-11-19', '20:00', '2026-11-19'],
    ['on a Sunday', '2026-11-22', '12:00', '2026-11-20'],
    ['on a Monday before the open', '2026-11-23', '08:00', '2026-11-20'],
    ['on Thanksgiving', '2026-11-26', '12:00', '2026-11-25'],
    ['the weekend New York changes its clocks', '2026-11-01', '12:00', '2026-10-30'],
  ])('%s', (_, date, clock, session) => {
    expect(latestSession(at(date, clock))).toBe(session);
  });
});

const of = (tasks: SampleTask[], dataset: SampleTask['dataset']) =>
  tasks.filter((task) => task.dataset === dataset && 'session' in task) as Extract<SampleTask, { session: string }>[];
const daysOf = (tasks: SampleTask[]) =>
  tasks.flatMap((task) =>
    task.dataset === 'stock-day-bars' ? ('sessions' in task ? task.sessions : [task.session]) : [],
  );

describe('the plan of the sample market', () => {
  test('after a close: thirty sessions of minutes, and chains every five minutes of the last three for six symbols', () => {
    const tasks = samplePlan(at('2026-12-01', '18:00'), null);
    expect(of(tasks, 'stock-minute-bars')).toHaveLength(30);
    const captures = (symbol: string) =>
      of(tasks, 'chain').filter((task) => 'symbol' in task && task.symbol === symbol && task.session === '2026-12-01')
        .length;
    const often = ['SPX', 'NDX', 'SPY', 'QQQ', 'AAPL', 'TSLA'];
    expect(often.map(captures)).toEqual([78, 78, 78, 78, 78, 78]);
    expect(captures('MSFT')).toBe(1);
    // 2026-11-27, the day after Thanksgiving, is a half day.
    expect(
      of(tasks, 'chain').filter((task) => 'symbol' in task && task.symbol === 'SPX' && task.session === '2026-11-27'),
    ).toHaveLength(42);
  });

  test('always has a half day, and the day before it', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('2018-01-05'), max: new Date('2035-01-01'), noInvalidDate: true }),
        (date) => {
          const tasks = samplePlan(date.getTime(), null);
          const half = of(tasks, 'stock-minute-bars')
            .map(({ session }) => session)
            .find(isHalfDay)!;
          expect(half).toBeDefined();
          expect(daysOf(tasks)).toContain(previousTradingDay(half));
        },
      ),
      { numRuns: 40 },
    );
  });

  test('never goes beyond the clock, names no file twice, and leaves no hole in the days, also when it goes on later', () => {
    const start = fc.integer({ min: Date.parse('2019-01-01'), max: Date.parse('2033-01-01') });
    fc.assert(
      fc.property(start, fc.integer({ min: 0, max: 300 * 86_400_000 }), (first, later) => {
        const [before, after] = [samplePlan(first, null), samplePlan(first + later, first)];
        for (const [tasks, nowMs] of [
          [before, first],
          [after, first + later],
        ] as const) {
          for (const task of tasks) {
            if ('untilMs' in task) {
              const endMs = isTape(task) ? tapeEndMs(task.session) : regularSession(task.session)!.closeMs;
              expect(task.untilMs).toBeLessThanOrEqual(Math.min(nowMs, endMs));
            }
            if (task.dataset === 'chain') expect(exchangeInstant(task.session, task.minute)).toBeLessThanOrEqual(nowMs);
          }
          const made = tasks.filter((task) => !(isTape(task) && task.again));
          expect(new Set(made.map((task) => `${task.dataset} ${task.name}`)).size).toBe(made.length);
        }
        const days = [...new Set([...daysOf(before), ...daysOf(after)])].sort().slice(-sampleShape.barSessions - 100);
        for (let i = 1; i < days.length; i++) expect(days[i]).toBe(nextTradingDay(days[i - 1]!));
        expect(days.every(isTradingDay)).toBe(true);
        expect(days.at(-1)).toBe(latestSession(first + later));
      }),
      { numRuns: 40 },
    );
  });

  test.each([
    ['before the open', '2026-11-20', '08:00'],
    ['in the session', '2026-11-20', '11:00'],
    ['in the evening', '2026-11-20', '20:30'],
    ['on a Sunday', '2026-11-22', '12:00'],
  ])('has the stock tapes of two sessions whose off-exchange figures are published: %s', (_, date, clock) => {
    const nowMs = at(date, clock);
    for (const plan of [samplePlan(nowMs, null), samplePlanBesideTape(nowMs, null, sampleShape)]) {
      const published = of(plan, 'stock-trades').filter(({ session }) => session < date);
      expect(published.length).toBeGreaterThanOrEqual(2);
      for (const { untilMs, session } of published as { untilMs: number; session: string }[])
        expect(untilMs).toBe(tapeEndMs(session));
    }
  });

  test('is empty when nothing has happened since, or the clock went back', () => {
    const friday = at('2026-11-20', '18:00');
    expect(samplePlan(at('2026-11-22', '10:00'), friday)).toEqual([]);
    expect(samplePlan(at('2026-11-19', '12:00'), friday)).toEqual([]);
  });

  test('has the tapes of the last two sessions, the latest first, and option bars of the one before', () => {
    const tasks = samplePlan(at('2026-11-20', '16:30'), null);
    const named = (dataset: SampleTask['dataset']) => of(tasks, dataset).map(({ session }) => session);
    // The latest session's options again, once the prices of the session before are there.
    expect(named('option-trades')).toEqual(['2026-11-20', '2026-11-19', '2026-11-20']);
    expect(tasks.at(-1)).toMatchObject({ dataset: 'option-trades', session: '2026-11-20', again: true });
    // The latest session's off-exchange figures are not published yet: two before it have tapes of stocks.
    expect(named('stock-trades')).toEqual(['2026-11-20', '2026-11-18', '2026-11-19']);
    expect(named('option-minute-bars')).toEqual(['2026-11-18']);
    for (const session of ['2026-11-19', '2026-11-20']) {
      const own = tasks.filter((task) => 'session' in task && task.session === session);
      const firstTape = own.findIndex(isTape);
      expect(own.slice(firstTape).every(isTape)).toBe(true);
    }
  });

  test('has the latest session first, with the days before it and the chains its first minutes rest on', () => {
    const nowMs = at('2026-11-20', '16:30');
    const tasks = samplePlan(nowMs, null);
    const [first, later] = [tasks.slice(0, untilLatest(tasks, nowMs)), tasks.slice(untilLatest(tasks, nowMs))];
    const isOfLatest = (task: SampleTask) => 'session' in task && task.session === '2026-11-20';
    expect(later.filter(isOfLatest)).toEqual([expect.objectContaining({ again: true })]);
    const others = first.filter((task) => !isOfLatest(task) && !isCorporate(task) && task.dataset !== 'stock-day-bars');
    expect(new Set(others.map((task) => 'session' in task && task.session))).toEqual(new Set(['2026-11-19']));
    expect(others.every(({ dataset }) => dataset === 'chain')).toBe(true);
    expect(later.some(({ dataset }) => dataset === 'stock-day-bars')).toBe(false);
    expect(untilLatest([], nowMs)).toBe(0);
  });

  test('goes on with tapes for two hours after the close, when stocks still trade', () => {
    const datasets = (clock: string) =>
      samplePlan(at('2026-11-20', clock), at('2026-11-20', '17:00')).map(({ dataset }) => dataset);
    expect(datasets('17:30')).toEqual(['stock-trades', 'option-trades']);
    expect(datasets('17:00')).toEqual([]);
  });

  test('brings the tapes of a session left in the middle to their end, however long ago that was', () => {
    const tasks = samplePlan(at('2026-12-04', '18:00'), at('2026-11-19', '11:58'));
    expect(of(tasks, 'option-trades').map(({ session }) => session)).toEqual([
      '2026-12-04',
      '2026-11-19',
      '2026-12-03',
      '2026-12-04',
    ]);
  });

  test('of a session left in the middle, brings the rest: later captures alone, and its bars anew', () => {
    const tasks = samplePlan(at('2026-11-19', '12:02'), at('2026-11-19', '11:58'));
    expect(tasks.filter((task) => task.dataset === 'chain').map((task) => task.name)).toContain('2026-11-19/SPX-1200');
    expect(of(tasks, 'chain').filter((task) => 'minute' in task && task.minute !== 720)).toEqual([]);
    expect(tasks.filter((task) => task.dataset !== 'chain').map((task) => `${task.dataset} ${task.name}`)).toEqual([
      'stock-day-bars 2026-11-19',
      'stock-minute-bars 2026-11-19',
      'stock-trades 2026-11-19',
      'option-trades 2026-11-19',
    ]);
  });
});
