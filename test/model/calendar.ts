// The exchange's days and hours, from the reference calendar alone.
import { readFileSync } from 'node:fs';
import { sharedData } from '../support/shared-data.ts';

interface Reference {
  holidays: string[];
  early_closes_1300: string[];
}

let reference: { closed: Set<string>; half: Set<string> } | null = null;

function days(): { closed: Set<string>; half: Set<string> } {
  if (reference) return reference;
  const read: Reference = JSON.parse(readFileSync(sharedData('reference/us_equity_calendar_1998_2028.json'), 'utf8'));
  reference = { closed: new Set(read.holidays), half: new Set(read.early_closes_1300) };
  return reference;
}

export const minute = 60_000;
export const day = 86_400_000;

/** The date `days` after another. */
export const plusDays = (date: string, days: number): string =>
  new Date(Date.parse(`${date}T00:00Z`) + days * day).toISOString().slice(0, 10);

const clock = new Intl.DateTimeFormat('en-CA', {
  timeZone: 'America/New_York',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});

const offsets = new Map<number, number>();

/** The offset of New York from UTC at an instant, ms. */
function offsetAt(ms: number): number {
  const quarter = Math.floor(ms / (15 * minute));
  let offset = offsets.get(quarter);
  if (offset === undefined) {
    const parts = Object.fromEntries(
      clock.formatToParts(quarter * 15 * minute).map(({ type, value }) => [type, value]),
    );
    const local = Date.parse(`${parts.year}-${parts.month}-${parts.day}T${parts.hour}:${parts.minute}Z`);
    offset = local - quarter * 15 * minute;
    offsets.set(quarter, offset);
  }
  return offset;
}

/** The instant at which the clocks of UTC show what New York's show at an instant. */
export const newYorkTime = (ms: number): number => ms + offsetAt(ms);

/** The New York date of an instant. */
export const dateOf = (ms: number): string => new Date(newYorkTime(ms)).toISOString().slice(0, 10);

/** The instant of a New York date and minute of the day, which may lie outside of it. */
export function newYork(date: string, minutes = 0): number {
  const local = Date.parse(`${date}T00:00Z`) + minutes * minute;
  const first = local - offsetAt(local);
  return local - offsetAt(first);
}

export const isTrading = (date: string): boolean => {
  const weekday = new Date(`${date}T00:00Z`).getUTCDay();
  return weekday !== 0 && weekday !== 6 && !days().closed.has(date);
};

/** The trading day `steps` before (negative) or after a date; 0 = the date, or the next one that trades. */
export function tradingDay(date: string, steps: number): string {
  let found = date;
  while (!isTrading(found) && steps === 0) found = plusDays(found, 1);
  for (let left = Math.abs(steps); left > 0; ) {
    found = plusDays(found, Math.sign(steps));
    if (isTrading(found)) left--;
  }
  return found;
}

export const openOf = (date: string): number => newYork(date, 570);
export const closeOf = (date: string): number => newYork(date, days().half.has(date) ? 780 : 960);

/** The trade date of an instant: from 20:00 on, and on days without trading, the next trading day. */
export function sessionOf(ms: number): string {
  const date = dateOf(ms);
  return ms >= newYork(date, 1200) ? tradingDay(date, 1) : tradingDay(date, 0);
}
