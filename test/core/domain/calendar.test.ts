import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  clockTime,
  closeMinute,
  isHalfDay,
  isSealed,
  isTradingDay,
  nextTradingDay,
  previousTradingDay,
  regularSession,
  sessionOf,
  tradeDate,
  tradeSpan,
  tradeSpanAt,
} from '../../../src/core/domain/calendar.ts';
import {
  addDays,
  dateOfEpochDay,
  epochDay,
  exchangeDate,
  exchangeMinuteOfDay,
} from '../../../src/core/domain/market-time.ts';
import { sharedData } from '../../support/shared-data.ts';

const reference = sharedData('reference/us_equity_calendar_1998_2028.json');

describe('the exchange calendar', () => {
  test.skipIf(!existsSync(reference))(
    'agrees with the published one on every day of 1998–2028 (passed over without it)',
    () => {
      const published = JSON.parse(readFileSync(reference, 'utf8')) as {
        holidays: string[];
        early_closes_1300: string[];
      };
      const holidays = new Set(published.holidays);
      const early = new Set(published.early_closes_1300);
      const wrong: string[] = [];
      for (let date = '1998-01-01'; date <= '2028-12-31'; date = addDays(date, 1)) {
        const weekday = new Date(`${date}T00:00Z`).getUTCDay();
        const trades = weekday !== 0 && weekday !== 6 && !holidays.has(date);
        if (isTradingDay(date) !== trades || isHalfDay(date) !== (trades && early.has(date))) wrong.push(date);
      }
      expect(wrong).toEqual([]);
    },
  );

  test('knows weekends, holidays, half days and closings by proclamation', () => {
    expect(isTradingDay('2026-11-20')).toBe(true);
    expect(isTradingDay('2026-11-21')).toBe(false);
    expect(isTradingDay('2026-11-26')).toBe(false);
    expect(isTradingDay('2012-10-29')).toBe(false);
    expect(isHalfDay('2026-11-27')).toBe(true);
    expect(clockTime(closeMinute('2026-11-27'))).toBe('13:00');
    expect(clockTime(closeMinute('2026-11-20'))).toBe('16:00');
  });

  test('steps over days without trading', () => {
    expect(previousTradingDay('2026-11-27')).toBe('2026-11-25');
    expect(nextTradingDay('2026-11-25')).toBe('2026-11-27');
  });

  test('has trading days and holidays in every year that a date can name, and beside them', () => {
    for (let year = -3; year <= 10_002; year += year < 1010 || year > 9990 ? 1 : 97) {
      const first = dateOfEpochDay(new Date(0).setUTCFullYear(year, 0, 1) / 86_400_000);
      const days = Array.from({ length: 365 }, (_, i) => addDays(first, i));
      const trading = days.filter(isTradingDay).length;
      // 260 to 262 weekdays, less 8 to 10 holidays.
      expect([year, trading >= 249 && trading <= 254]).toEqual([year, true]);
      expect(days.filter(isHalfDay).length).toBeLessThanOrEqual(3);
    }
  });

  test('gives a session its instants, and a date without trading none', () => {
    expect(regularSession('2026-11-20')).toEqual({
      openMs: Date.parse('2026-11-20T14:30Z'),
      closeMs: Date.parse('2026-11-20T21:00Z'),
    });
    expect(regularSession('2026-07-02')).toEqual({
      openMs: Date.parse('2026-07-02T13:30Z'),
      closeMs: Date.parse('2026-07-02T20:00Z'),
    });
    expect(regularSession('2026-11-26')).toBeNull();
  });

  test('a Sunday capture belongs to Friday, and a session is sealed when its New York date is over', () => {
    expect(sessionOf(Date.parse('2024-01-07T15:52Z'))).toBe('2024-01-05');
    expect(isSealed('2026-11-19', Date.parse('2026-11-20T04:59Z'))).toBe(false);
    expect(isSealed('2026-11-19', Date.parse('2026-11-20T05:00Z'))).toBe(true);
  });
});

describe('the trade date of a print', () => {
  test.each([
    ['a regular print', '2024-12-11T15:00:00Z', '2024-12-11'],
    ['just after midnight', '2024-12-11T05:00:00Z', '2024-12-11'],
    ['the last millisecond before 20:00', '2024-12-12T00:59:59.999Z', '2024-12-11'],
    ['20:00', '2024-12-12T01:00:00Z', '2024-12-12'],
    ['the start of the overnight session of index options, 20:15', '2024-12-11T01:15:00Z', '2024-12-11'],
    ['20:00 in summer', '2024-07-10T00:00:00Z', '2024-07-10'],
    ['a millisecond before it', '2024-07-09T23:59:59.999Z', '2024-07-09'],
    ['Friday 20:00', '2024-12-14T01:00:00Z', '2024-12-16'],
    ['Saturday', '2024-12-14T17:00:00Z', '2024-12-16'],
    ['Sunday 20:15', '2024-12-16T01:15:00Z', '2024-12-16'],
    ['the Sunday on which clocks go forward, after 20:00', '2024-03-11T00:15:00Z', '2024-03-11'],
    ['the Friday before, a millisecond before 20:00', '2024-03-09T00:59:59.999Z', '2024-03-08'],
    ['the Friday before, 20:00', '2024-03-09T01:00:00Z', '2024-03-11'],
    ['that Monday, a millisecond before 20:00', '2024-03-11T23:59:59.999Z', '2024-03-11'],
    ['the Sunday on which clocks go back', '2024-11-03T06:30:00Z', '2024-11-04'],
    ['the Friday before it, 20:00', '2024-11-02T00:00:00Z', '2024-11-04'],
    ['that Monday, a millisecond before 20:00 of winter', '2024-11-05T00:59:59.999Z', '2024-11-04'],
    ['Sunday evening before a holiday on Monday', '2024-01-15T01:15:00Z', '2024-01-16'],
    ['the evening of a holiday on Monday', '2024-01-16T01:15:00Z', '2024-01-16'],
    ['the eve of Thanksgiving, 20:00', '2024-11-28T01:00:00Z', '2024-11-29'],
    ['Thanksgiving', '2024-11-28T17:00:00Z', '2024-11-29'],
    ['after the close of a half day', '2024-11-29T19:30:00Z', '2024-11-29'],
    ['the evening of a half day', '2024-11-30T01:00:00Z', '2024-12-02'],
    ['Christmas Eve in the afternoon', '2024-12-24T20:00:00Z', '2024-12-24'],
    ['Christmas Eve 20:00', '2024-12-25T01:00:00Z', '2024-12-26'],
    ['New Year’s Eve 19:59', '2025-01-01T00:59:00Z', '2024-12-31'],
    ['New Year’s Eve 20:00', '2025-01-01T01:00:00Z', '2025-01-02'],
    ['New Year’s Day', '2025-01-01T17:00:00Z', '2025-01-02'],
    ['a closing by proclamation', '2012-10-29T16:00:00Z', '2012-10-31'],
  ])('%s', (_, instant, date) => {
    expect(tradeDate(Date.parse(instant))).toBe(date);
  });

  test('spans follow one another without a gap and hold exactly the instants of their date', () => {
    let untilMs = tradeSpan('2000-01-03').fromMs;
    for (let date = '2000-01-01'; date < '2027-01-01'; date = addDays(date, 1)) {
      const { fromMs, toMs } = tradeSpan(date);
      if (!isTradingDay(date)) {
        expect([date, toMs - fromMs]).toEqual([date, 0]);
        continue;
      }
      expect([date, fromMs]).toEqual([date, untilMs]);
      expect([exchangeDate(toMs), exchangeMinuteOfDay(toMs)]).toEqual([date, 20 * 60]);
      expect([tradeDate(fromMs), tradeDate(toMs - 1), tradeDate(toMs)]).toEqual([date, date, nextTradingDay(date)]);
      untilMs = toMs;
    }
  });

  test('is the first trading day that is not over at 20:00, whatever was asked before', () => {
    // Not in order, so that an answer that is remembered would be wrong.
    const instants = Array.from({ length: 4000 }, (_, i) => Date.UTC(2019, 0) + ((i * 7919) % 4000) * 13 * 3_600_000);
    for (const tsMs of instants) {
      let day = epochDay(exchangeDate(tsMs)) + (exchangeMinuteOfDay(tsMs) >= 20 * 60 ? 1 : 0);
      while (!isTradingDay(dateOfEpochDay(day))) day++;
      expect([tsMs, tradeDate(tsMs)]).toEqual([tsMs, dateOfEpochDay(day)]);
      expect(tradeSpanAt(tsMs)).toEqual(tradeSpan(dateOfEpochDay(day)));
    }
  });
});
