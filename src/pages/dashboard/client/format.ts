import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { Timeframe } from './timeframes.ts';

// Numbers in traders' notation. Every function documents its unit; null is a dash.

/** Placeholder of an unknown figure. */
export const unknown = '–';

const minus = '\u2212';
const signed = (text: string) => text.replace('-', minus);

// Creating a format costs a hundred times as much as using it.
const formats = new Map<string, Intl.NumberFormat>();

function written(value: number, least: number, most: number): string {
  const name = `${least} ${most}`;
  let format = formats.get(name);
  if (!format) {
    format = new Intl.NumberFormat('en-US', { minimumFractionDigits: least, maximumFractionDigits: most });
    formats.set(name, format);
  }
  return format.format(value);
}

const fixed = (value: number, digits: number, most = digits) => signed(written(value, digits, most));

/** Dollars, in cents; below a dollar, to the hundredth of a cent if necessary. */
export function price(dollars: number | null | undefined): string {
  if (dollars == null) return unknown;
  return fixed(dollars, 2, Math.abs(dollars) < 1 ? 4 : 2);
}

/** A strike in thousandths of a dollar: 636000 is 636, 7500 is 7.5. */
export function strike(thousandths: number | null | undefined): string {
  if (thousandths == null) return unknown;
  return written(thousandths / 1000, 0, 3);
}

const magnitudes: readonly (readonly [number, string])[] = [
  [1e12, 'T'],
  [1e9, 'B'],
  [1e6, 'M'],
  [1e3, 'K'],
];

/** A count or an amount with three significant digits: 36372532 is 36.4M. */
export function compact(value: number | null | undefined): string {
  if (value == null) return unknown;
  const size = Math.abs(value);
  // 999,950 is 1.00M, not 1000K: a number that rounds up to the next magnitude is written in it.
  const [unit, letter] = magnitudes.find(([at]) => size >= at * 0.9995) ?? [1, ''];
  const scaled = value / unit;
  const digits =
    unit === 1 ? (Number.isInteger(value) ? 0 : 2) : Math.abs(scaled) < 9.995 ? 2 : Math.abs(scaled) < 99.95 ? 1 : 0;
  return `${fixed(scaled, digits)}${letter}`;
}

/** Dollars with three significant digits: $1.28M, −$94.9K. */
export function usd(dollars: number | null | undefined): string {
  if (dollars == null) return unknown;
  return dollars < 0 ? `${minus}$${compact(-dollars)}` : `$${compact(dollars)}`;
}

/** A figure for an axis, without trailing zeros: $90.0M is $90M. */
export const brief = (text: string) => text.replace(/(\.\d*?)0+(?=[KMBT]?$)/, '$1').replace(/\.(?=[KMBT]?$)/, '');

/** Dollars of hedging per $1 move, the unit of GEX: +$6.65M. */
export function gex(dollars: number | null | undefined): string {
  if (dollars == null) return unknown;
  return dollars > 0 ? `+${usd(dollars)}` : usd(dollars);
}

/** A whole number: 1,378. */
export function whole(value: number | null | undefined): string {
  return value == null ? unknown : fixed(Math.round(value), 0);
}

/** A change in percent: 0.4607 is +0.46%. */
export function change(percent: number | null | undefined): string {
  if (percent == null) return unknown;
  const text = fixed(percent, 2);
  if (/^.?0\.00$/.test(text)) return '0.00%';
  return `${percent > 0 ? '+' : ''}${text}%`;
}

/** A fraction as percent: 0.1843 is 18.4%. */
export function fraction(value: number | null | undefined, digits = 1): string {
  return value == null ? unknown : `${fixed(value * 100, digits)}%`;
}

/** Basis points from a price: −30 bps. */
export function basisPoints(value: number | null | undefined): string {
  if (value == null) return unknown;
  return `${value > 0 ? '+' : ''}${fixed(value, Math.abs(value) < 10 ? 1 : 0)} bps`;
}

/** A ratio of puts to calls; a dash without calls. */
export function ratio(puts: number, calls: number): string {
  return calls > 0 ? fixed(puts / calls, 2) : unknown;
}

const newYork = { timeZone: 'America/New_York', hourCycle: 'h23' } as const;
const clock = new Intl.DateTimeFormat('en-US', { ...newYork, hour: '2-digit', minute: '2-digit' });
const clockSeconds = new Intl.DateTimeFormat('en-US', {
  ...newYork,
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});
const monthDay = new Intl.DateTimeFormat('en-US', { ...newYork, month: 'short', day: 'numeric' });
const weekdayDate = new Intl.DateTimeFormat('en-US', {
  timeZone: 'UTC',
  weekday: 'short',
  month: 'short',
  day: 'numeric',
});
const isoDate = new Intl.DateTimeFormat('en-CA', { ...newYork, year: 'numeric', month: '2-digit', day: '2-digit' });

/** New York's HH:MM of an instant. */
export const clockTime = (ms: number | null | undefined) => (ms == null ? unknown : clock.format(ms));

/** New York's HH:MM:SS of an instant. */
export const clockTimeSeconds = (ms: number | null | undefined) => (ms == null ? unknown : clockSeconds.format(ms));

/** New York's day of an instant: Nov 20. */
export const dayOf = (ms: number) => monthDay.format(ms);

// The date changes only on the hour. Every candle's date is formatted, which costs a hundred times as much as this
// cache.
const dates = new Map<number, string>();

/** New York's date of an instant: 2026-11-20. */
export function dateOf(ms: number): string {
  const hour = Math.floor(ms / 3_600_000);
  const date = dates.get(hour) ?? isoDate.format(ms);
  dates.set(hour, date);
  return date;
}

/** A date for people: Fri, Nov 20. The year is shown elsewhere. */
export const date = (isoText: string | null | undefined) =>
  isoText == null ? unknown : weekdayDate.format(Date.parse(`${isoText}T00:00:00Z`));

/** A date with its year: Fri, Nov 20 2026. */
export const fullDate = (isoText: string) => `${date(isoText)} ${isoText.slice(0, 4)}`;

/** A date for people beside another one: Fri, Nov 20; with its year if that differs. */
export const dateBeside = (isoText: string, beside: string) =>
  isoText.slice(0, 4) === beside.slice(0, 4) ? date(isoText) : fullDate(isoText);

/** A short date: Nov 20; with the year if it differs from that of the date `beside` it, null = there is none. */
export function shortDate(isoText: string, beside: string | null): string {
  const day = weekdayDate.format(Date.parse(`${isoText}T00:00:00Z`)).replace(/^\w+, /, '');
  return beside !== null && beside.slice(0, 4) !== isoText.slice(0, 4) ? `${day} ’${isoText.slice(2, 4)}` : day;
}

/**
 * An instant's day and time in New York: Nov 20 09:30; with the year if it differs from that of the date `beside` it.
 */
export const dayAndTime = (ms: number, beside: string | null) => `${shortDate(dateOf(ms), beside)} ${clockTime(ms)}`;

// A dash in place of an unknown figure.

/**
 * A figure, or a dash that says why it is unknown: to a pointer that rests on it, and to a tap, Enter or Space. `id` =
 * its own in the page.
 */
export function figureOrWhy(text: string, id: string, why: string): string | VNode {
  if (text !== unknown) return text;
  return html`<button type="button" class="unknown" popovertarget=${id} title=${why} aria-label=${`Unknown: ${why}`}>${unknown}</button>
    <span id=${id} class="why" popover="auto">${why}</span>` as VNode;
}

// Calendar dates, as texts YYYY-MM-DD, independent of clock and time zone.

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
