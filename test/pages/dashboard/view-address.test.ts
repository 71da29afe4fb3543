import { describe, expect, test } from 'vitest';
import { addDays, barSpan, isDate, weekdayBefore } from '../../../src/pages/dashboard/client/format.ts';
import { addressOf, tickerOf, viewOf } from '../../../src/pages/dashboard/client/view-address.ts';

const view = (address: string) => viewOf(new URL(address, 'http://here'), 'SPY');

describe('the address of a view', () => {
  test.each([
    { symbol: 'SPY', timeframe: '1m', session: null },
    { symbol: 'BRK.B', timeframe: '5m', session: null },
    { symbol: 'BF.B', timeframe: '1d', session: '2026-11-19' },
  ] as const)('leads back to it: $symbol $timeframe $session', (shown) => {
    expect(view(addressOf(shown))).toEqual(shown);
  });

  test('what it says wrongly is the default', () => {
    expect(view('/dashboard/qqq?tf=7m&session=2026-02-30')).toEqual({ symbol: 'QQQ', timeframe: '1m', session: null });
    expect(view('/dashboard')).toMatchObject({ symbol: 'SPY' });
    expect(view('/dashboard/%E0%A4%A')).toMatchObject({ symbol: '%E0%A4%A' });
  });

  test('leads to one symbol, however it is spelled', () => {
    for (const path of ['BRK.B', 'brk-b', 'BRK%2FB', 'BRK%20B'])
      expect(view(`/dashboard/${path}`)).toMatchObject({ symbol: 'BRK.B' });
  });

  test('a text is a ticker, in any case and spelling, or none', () => {
    expect([' brk.b', 'brk-b', 'SPY', '', '<b>', 'TOOLONGNAME', '1X'].map(tickerOf)).toEqual([
      'BRK.B',
      'BRK.B',
      'SPY',
      null,
      null,
      null,
      null,
    ]);
  });
});

describe('dates', () => {
  test('the weekday before a Monday is a Friday', () => {
    expect(weekdayBefore('2026-11-23')).toBe('2026-11-20');
    expect(weekdayBefore('2026-11-20')).toBe('2026-11-19');
    expect(addDays('2026-02-28', 1)).toBe('2026-03-01');
  });

  test('a date has to exist', () => {
    expect(['2026-02-28', '2026-02-30', '2026-2-3', ''].map(isDate)).toEqual([true, false, false, false]);
  });

  test('candles end with the session, and go no further back than a key may read', () => {
    expect(barSpan('1m', '2026-11-20')).toEqual({ from: '2026-11-19', to: '2026-11-21' });
    for (const [timeframe, days] of [
      ['5m', 30],
      ['1h', 90],
      ['1d', 731],
    ] as const) {
      const { from, to } = barSpan(timeframe, '2026-11-20');
      expect(to).toBe('2026-11-21');
      expect((Date.parse(to) - Date.parse(from)) / 86_400_000).toBeLessThanOrEqual(days);
    }
  });
});
