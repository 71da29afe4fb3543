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
} from '../../src/domain/calendar.ts';
import { addDays, dateOfEpochDay } from '../../src/domain/market-time.ts';
import { sharedData } from '../support/shared-data.ts';

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
