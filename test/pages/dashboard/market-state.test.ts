import { describe, expect, test } from 'vitest';
import type { Dashboard, GexCapture } from '../../../generated/pages/operation-types.ts';
import { marketClock } from '../../../src/core/domain/market-clock.ts';
import { dailySpan } from '../../../src/pages/dashboard/client/data/dashboard-answer.ts';
import { ageText, liveBadge, priceTime } from '../../../src/pages/dashboard/client/market/market-state.ts';
import { sessionAtOrBefore, sessionQuote, sessionsOf } from '../../../src/pages/dashboard/client/market/sessions.ts';
import { symbolEntered } from '../../../src/pages/dashboard/client/market/symbol-field.ts';
import { newYork } from '../../support/option-market.ts';

const view = { symbol: 'SPY', timeframe: '1m', session: null } as const;

describe('live means that prices move', () => {
  const badge = (date: string, clock: string, lastSecondsAgo: number | null, live = 'live' as const) => {
    const nowMs = newYork(date, clock);
    const eventTsMs = lastSecondsAgo === null ? null : nowMs - lastSecondsAgo * 1000;
    const quote = { spot: eventTsMs === null ? null : 636, eventTsMs, sessionDate: date };
    return liveBadge({ view, live, market: marketClock(nowMs), quote, priceMs: eventTsMs, latestSession: date, nowMs });
  };

  test('with a price of the last minute it is live, before and after regular hours too', () => {
    expect(badge('2026-11-20', '12:00', 5)).toEqual({ kind: 'live', text: 'Live' });
    expect(badge('2026-11-20', '17:00', 5)).toEqual({ kind: 'live', text: 'Live, extended hours' });
  });

  test('without one, while the market is open, it says since when nothing traded', () => {
    expect(badge('2026-11-20', '12:00', 600)).toEqual({ kind: 'quiet', text: 'No trade since 11:50:00' });
    expect(badge('2026-11-20', '12:00', null)).toEqual({ kind: 'quiet', text: 'No trade yet' });
    const nowMs = newYork('2026-11-20', '12:00');
    const quote = { spot: 636, eventTsMs: null, sessionDate: '2024-01-05' };
    const old = { view, live: 'live', priceMs: null, latestSession: '2024-01-05' } as const;
    const text = 'No trade since Fri, Jan 5 2024';
    expect(liveBadge({ ...old, market: marketClock(nowMs), quote, nowMs })).toEqual({ kind: 'quiet', text });
    const sundayMs = newYork('2026-11-22', '12:00');
    expect(liveBadge({ ...old, market: marketClock(sundayMs), quote: undefined, nowMs: sundayMs }).text).toBe(
      'Market closed · Fri, Jan 5 2024',
    );
  });

  test('while the market is closed it says so, with the last session and its time', () => {
    const nowMs = newYork('2026-11-22', '12:00');
    const at = (eventTsMs: number | null, live: 'live' | 'connecting') =>
      liveBadge({
        view,
        live,
        market: marketClock(nowMs),
        quote: { spot: 636, eventTsMs, sessionDate: '2026-11-20' },
        priceMs: eventTsMs,
        latestSession: '2026-11-20',
        nowMs,
      });
    const closed = { kind: 'closed', text: 'Market closed · Fri, Nov 20 16:00' };
    expect(at(null, 'live')).toEqual(closed);
    expect(at(newYork('2026-11-20', '16:00'), 'connecting')).toEqual(closed);
  });

  test('a page that was opened before the open is live when it comes', () => {
    const market = marketClock(newYork('2026-11-23', '09:00'));
    const nowMs = newYork('2026-11-23', '09:31');
    const quote = { spot: 636, eventTsMs: nowMs - 500, sessionDate: '2026-11-23' };
    expect(
      liveBadge({ view, live: 'live', market, quote, priceMs: nowMs - 500, latestSession: '2026-11-20', nowMs }).text,
    ).toBe('Live');
  });

  test('an index in session has the time of its last candle, and is live with each minute', () => {
    const nowMs = newYork('2026-11-20', '12:00') + 50_000;
    const market = marketClock(nowMs);
    const quote = { spot: 6335.4, eventTsMs: null, sessionDate: '2026-11-20' };
    const last = newYork('2026-11-20', '11:59');
    const made = (candles: number[], timeframe: '1m' | '5m' | '1d' = '1m', at = nowMs) =>
      priceTime({ quote, market, candles, timeframe, nowMs: at });
    const badge = (priceMs: number | null) =>
      liveBadge({ view, live: 'live', market, quote, priceMs, latestSession: '2026-11-20', nowMs }).text;
    expect(made([last])).toBe(newYork('2026-11-20', '12:00'));
    expect(made([last + 60_000], '5m')).toBe(nowMs);
    expect(badge(made([last]))).toBe('Live');
    expect(badge(made([last - 600_000]))).toBe('No price since 11:50:00');
    expect(badge(made([last], '1d'))).toBe('Market open');
    expect(made([newYork('2026-11-19', '15:59')])).toBeNull();
    // After the session the price is its close.
    expect(made([last], '1m', newYork('2026-11-20', '17:00'))).toBeNull();
  });

  test('a past session is none of that', () => {
    const past = { ...view, session: '2026-11-19' };
    const nowMs = newYork('2026-11-20', '12:00');
    const market = marketClock(nowMs);
    const badge = liveBadge({
      view: past,
      live: 'off',
      market,
      quote: undefined,
      priceMs: null,
      latestSession: '2026-11-20',
      nowMs,
    });
    expect(badge.kind).toBe('past');
  });
});

test('a figure that is not of now has its age', () => {
  const nowMs = newYork('2026-11-20', '12:00');
  const age = (minutes: number) => ageText(nowMs - minutes * 60_000, nowMs);
  expect([0, 1, 5, 59, 61].map(age)).toEqual([null, null, '5 min ago', '59 min ago', '1 h ago']);
  expect(ageText(newYork('2026-11-19', '16:00'), nowMs)).toBe('Nov 19 16:00');
  expect(ageText(newYork('2024-01-05', '16:00'), nowMs)).toBe('Jan 5 ’24 16:00');
  expect(ageText(null, nowMs)).toBeNull();
});

describe('sessions', () => {
  const daily = {
    tsMs: ['2026-11-18', '2026-11-19', '2026-11-20'].map((date) => newYork(date, '00:00')),
    close: [100, 110, 99],
    volume: [1, 2, 3],
  };

  test('only dates with a session can be picked; a date without one means the session before it', () => {
    // The latest has no data yet.
    const answer = { symbol: { sessionDates: ['2026-11-19', '2026-11-18'] } } as Dashboard;
    const sessions = sessionsOf({ latestSession: '2026-11-20', answer, capture: null });
    expect(sessions).toEqual(['2026-11-20', '2026-11-19', '2026-11-18']);
    expect(sessionAtOrBefore(['2026-11-23', '2026-11-20'], '2026-11-22')).toBe('2026-11-20');
    // After the latest there is the latest, live.
    expect(sessionAtOrBefore(sessions, '2026-11-22')).toBeNull();
    expect(sessionAtOrBefore(sessions, '2020-01-01')).toBeNull();
  });

  test('have the headline of their daily bar, in summer and winter', () => {
    const dates = ['2026-03-06', '2026-03-09', '2026-07-01', '2026-10-30', '2026-11-02'];
    const close = dates.map((_, i) => 100 + i);
    const year = { close, volume: close, tsMs: dates.map((date) => newYork(date, '00:00')) };
    expect(dates.map((date) => sessionQuote(year, date)?.close)).toEqual(close);
  });

  test('the last session with prices or a chain can be picked, however long ago', () => {
    const answer = { symbol: { lastSession: '2019-02-15' } } as Dashboard;
    const capture = { sessionDate: '2024-01-05' } as GexCapture;
    expect(sessionsOf({ latestSession: '2026-11-20', answer, capture })).toEqual([
      '2026-11-20',
      '2024-01-05',
      '2019-02-15',
    ]);
  });

  test('are those up to the latest, or those around one long past', () => {
    expect(dailySpan('2026-11-20', '2026-11-20')).toEqual({ dailyFrom: '2025-10-16', dailyTo: '2026-11-21' });
    expect(dailySpan('2026-03-02', '2026-11-20')).toEqual({ dailyFrom: '2025-10-16', dailyTo: '2026-11-21' });
    expect(dailySpan('2019-02-15', '2026-11-20')).toEqual({ dailyFrom: '2018-07-30', dailyTo: '2019-09-04' });
  });

  test('a past session shows its own headline: its close against the close before', () => {
    expect(sessionQuote(daily, '2026-11-19')).toEqual({
      close: 110,
      previousClose: 100,
      changePct: expect.closeTo(10),
      volume: 2,
    });
    expect(sessionQuote(daily, '2026-11-18')).toMatchObject({ close: 100, previousClose: null, changePct: null });
    expect(sessionQuote(daily, '2026-11-17')).toBeNull();
  });
});

test('Enter takes the ticker of that name, else the first suggestion, else what was typed', () => {
  const found = [
    { symbol: 'NVDA', name: null },
    { symbol: 'NVO', name: null },
  ];
  expect(symbolEntered('nv', found)).toBe('NVDA');
  expect(symbolEntered('nvo', found)).toBe('NVO');
  expect(symbolEntered('apple', [{ symbol: 'AAPL', name: 'Apple Inc.' }])).toBe('AAPL');
  expect(symbolEntered('qqqq', [])).toBe('QQQQ');
  expect(symbolEntered('what is this', [])).toBeNull();
});
