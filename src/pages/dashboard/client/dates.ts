// Calendar dates, as texts YYYY-MM-DD, independent of clock and time zone.
import type { Timeframe } from './timeframes.ts';

const dayMs = 86_400_000;

/** The date `days` after `date`. */
export function addDays(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * dayMs).toISOString().slice(0, 10);
}

/** The last weekday before `date`. */
export function weekdayBefore(date: string): string {
  const before = addDays(date, -1);
  const weekday = new Date(`${before}T00:00:00Z`).getUTCDay();
  return weekday === 0 ? addDays(before, -2) : weekday === 6 ? addDays(before, -1) : before;
}

/** Number of days of candles: as far back as an API key may read, with bars for one page or little more. */
const daysBack: Record<Exclude<Timeframe, '1m'>, number> = { '5m': 13, '1h': 89, '1d': 729 };

/**
 * The span of candles that ends with a session, as dates [from, to). Minutes: that session and the weekday before it.
 */
export function barSpan(timeframe: Timeframe, session: string): { from: string; to: string } {
  const from = timeframe === '1m' ? weekdayBefore(session) : addDays(session, -daysBack[timeframe]);
  return { from, to: addDays(session, 1) };
}

/** True if a text is a valid date. */
export function isDate(text: string): boolean {
  return (
    /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(`${text}T00:00:00Z`)) && addDays(text, 0) === text
  );
}
