import { minuteMs } from '../../platform/runtime/clock.ts';
import { addDays, epochDay, exchangeDate, exchangeInstant, type SessionDate } from './market-time.ts';

/** Minutes of the New York day at which trading phases begin and end. */
export const sessionMinutes = {
  extendedOpen: 4 * 60,
  open: 9 * 60 + 30,
  halfDayClose: 13 * 60,
  close: 16 * 60,
  extendedClose: 20 * 60,
};

// Closings that no rule gives. Source: NYSE's published list of special closings.
const specialClosings = new Set([
  '2001-09-11',
  '2001-09-12',
  '2001-09-13',
  '2001-09-14', // attacks of September 11
  '2004-06-11', // mourning for President Reagan
  '2007-01-02', // mourning for President Ford
  '2012-10-29',
  '2012-10-30', // hurricane Sandy
  '2018-12-05', // mourning for President G. H. W. Bush
  '2025-01-09', // mourning for President Carter
]);
// Half days that no rule gives, and exceptions from the rules.
const specialHalfDays = new Set<SessionDate>(['2002-07-05', '2003-12-26']);
const notHalfDays = new Set<SessionDate>(['1998-11-27', '1998-12-24', '2002-07-03']);

/** The remainder in [0, by), also for negative values. */
function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}

function weekday(date: SessionDate): number {
  return modulo(epochDay(date) + 4, 7); // 0 = Sunday; 1970-01-01 was a Thursday
}

function dateOf(year: number, month: number, day: number): SessionDate {
  const [sign, digits] = year < 0 ? ['-', 6] : year > 9999 ? ['+', 6] : ['', 4];
  const parts = [
    String(Math.abs(year)).padStart(digits, '0'),
    ...[month, day].map((part) => String(part).padStart(2, '0')),
  ];
  return sign + parts.join('-');
}

function nthWeekday(year: number, month: number, day: number, nth: number): SessionDate {
  const first = dateOf(year, month, 1);
  return addDays(first, ((day - weekday(first) + 7) % 7) + 7 * (nth - 1));
}

/** The third Friday of a month, counted from 0; of a following year from 12 on. */
export function thirdFriday(year: number, month: number): SessionDate {
  return nthWeekday(year + Math.floor(month / 12), modulo(month, 12) + 1, 5, 3);
}

function lastMonday(year: number, month: number): SessionDate {
  const next = nthWeekday(month === 12 ? year + 1 : year, month === 12 ? 1 : month + 1, 1, 1);
  return addDays(next, -7);
}

/** Easter Sunday by the Gregorian computus (Meeus/Jones/Butcher). */
function easter(year: number): SessionDate {
  const a = modulo(year, 19),
    b = Math.floor(year / 100),
    c = modulo(year, 100);
  const d = Math.floor(b / 4),
    e = modulo(b, 4),
    f = Math.floor((b + 8) / 25),
    g = Math.floor((b - f + 1) / 3);
  const h = modulo(19 * a + b - d - g + 15, 30),
    i = Math.floor(c / 4),
    k = c % 4;
  const l = modulo(32 + 2 * e + 2 * i - h - k, 7),
    m = Math.floor((a + 11 * h + 22 * l) / 451);
  const month = Math.floor((h + l - 7 * m + 114) / 31),
    day = ((h + l - 7 * m + 114) % 31) + 1;
  return dateOf(year, month, day);
}

/** A fixed-date holiday, moved to Friday from Saturday and to Monday from Sunday. */
function observed(date: SessionDate): SessionDate {
  const day = weekday(date);
  return day === 6 ? addDays(date, -1) : day === 0 ? addDays(date, 1) : date;
}

function holidaysOf(year: number): Set<SessionDate> {
  const newYear = dateOf(year, 1, 1);
  const days = [
    nthWeekday(year, 1, 1, 3),
    nthWeekday(year, 2, 1, 3),
    addDays(easter(year), -2),
    lastMonday(year, 5),
    observed(dateOf(year, 7, 4)),
    nthWeekday(year, 9, 1, 1),
    nthWeekday(year, 11, 4, 4),
    observed(dateOf(year, 12, 25)),
  ];
  // NYSE rule 7.2: a New Year's Day on a Saturday is not observed on the last trading day of the year before.
  if (weekday(newYear) !== 6) days.push(observed(newYear));
  if (year >= 2022) days.push(observed(dateOf(year, 6, 19)));
  return new Set(days);
}

function halfDaysOf(year: number): Set<SessionDate> {
  return new Set([addDays(nthWeekday(year, 11, 4, 4), 1), dateOf(year, 12, 24), dateOf(year, 7, 3)]);
}

const byYear = new Map<number, { holidays: Set<SessionDate>; halfDays: Set<SessionDate> }>();

function year(date: SessionDate) {
  const number = Number(date.slice(0, -6));
  let entry = byYear.get(number);
  if (!entry) {
    entry = { holidays: holidaysOf(number), halfDays: halfDaysOf(number) };
    byYear.set(number, entry);
  }
  return entry;
}

/**
 * True if the US equity exchanges trade on `date`: by rule, so that the calendar is unlimited, plus closings that no
 * rule gives.
 */
export function isTradingDay(date: SessionDate): boolean {
  const day = weekday(date);
  return day !== 0 && day !== 6 && !year(date).holidays.has(date) && !specialClosings.has(date);
}

/** True if `date` is a trading day that closes at 13:00. */
export function isHalfDay(date: SessionDate): boolean {
  if (!isTradingDay(date)) return false;
  return (year(date).halfDays.has(date) && !notHalfDays.has(date)) || specialHalfDays.has(date);
}

/** The last trading day before `date`. */
export function previousTradingDay(date: SessionDate): SessionDate {
  let day = addDays(date, -1);
  while (!isTradingDay(day)) day = addDays(day, -1);
  return day;
}

/** The first trading day after `date`. */
export function nextTradingDay(date: SessionDate): SessionDate {
  let day = addDays(date, 1);
  while (!isTradingDay(day)) day = addDays(day, 1);
  return day;
}

/**
 * `date` if it is a trading day, else the last trading day before it. A capture of a Sunday belongs to Friday's
 * session.
 */
export function tradingDayAtOrBefore(date: SessionDate): SessionDate {
  return isTradingDay(date) ? date : previousTradingDay(date);
}

/** The `count` trading days that end with `last`, ascending; `last` is one. */
export function sessionsUpTo(last: SessionDate, count: number): SessionDate[] {
  const sessions = [last];
  while (sessions.length < count) sessions.push(previousTradingDay(sessions.at(-1)!));
  return sessions.reverse();
}

/** The minute of the New York day at which the regular session of a trading day closes. */
export function closeMinute(date: SessionDate): number {
  return isHalfDay(date) ? sessionMinutes.halfDayClose : sessionMinutes.close;
}

/** Epoch ms of the regular session's open and close; null if the exchange does not trade that day. */
export function regularSession(date: SessionDate): { openMs: number; closeMs: number } | null {
  if (!isTradingDay(date)) return null;
  return { openMs: exchangeInstant(date, sessionMinutes.open), closeMs: exchangeInstant(date, closeMinute(date)) };
}

// Options on broad funds and indices trade a quarter of an hour beyond the close.
const lateCloseMs = 15 * minuteMs;

/** True if no option trades any more in a session. */
export function optionsAreOver(session: SessionDate, nowMs: number): boolean {
  return nowMs >= optionsOverAtMs(session);
}

/** The instant from which on no option trades in a session. */
export function optionsOverAtMs(session: SessionDate): number {
  const hours = regularSession(session);
  return hours ? hours.closeMs + lateCloseMs : exchangeInstant(addDays(session, 1));
}

/**
 * The instant on a New York date until which nothing trades: its start if it trades, 20:00 on the eve of a trading day,
 * else its end.
 */
export function closedUntil(date: SessionDate): number {
  if (isTradingDay(date)) return exchangeInstant(date);
  const next = addDays(date, 1);
  return isTradingDay(next) ? exchangeInstant(date, sessionMinutes.extendedClose) : exchangeInstant(next);
}

/** The first instant from `tsMs` on at which the regular session is open. */
export function openFrom(tsMs: number): number {
  const date = exchangeDate(tsMs);
  const session = regularSession(date);
  if (session && tsMs < session.closeMs) return Math.max(tsMs, session.openMs);
  return regularSession(nextTradingDay(date))!.openMs;
}

/** The instants of a trade date, epoch ms, excluding `toMs`. */
export interface TradeSpan {
  date: SessionDate;
  fromMs: number;
  toMs: number;
}

/**
 * The instants whose prints belong to a trade date: from 20:00 New York on the trading day before to 20:00 of the date,
 * with the weekends and holidays between them. Empty for a date without trading.
 */
export function tradeSpan(date: SessionDate): TradeSpan {
  const fromMs = exchangeInstant(previousTradingDay(date), sessionMinutes.extendedClose);
  return { date, fromMs, toMs: isTradingDay(date) ? exchangeInstant(date, sessionMinutes.extendedClose) : fromMs };
}

// Prints are nearly in order: the last span fits all but the first print of a session.
let lastSpan: TradeSpan = { date: '', fromMs: 0, toMs: 0 };

/** The span of the trade date that a print belongs to. */
export function tradeSpanAt(tsMs: number): TradeSpan {
  if (tsMs >= lastSpan.fromMs && tsMs < lastSpan.toMs) return lastSpan;
  const date = exchangeDate(tsMs);
  const isOfDate = isTradingDay(date) && tsMs < exchangeInstant(date, sessionMinutes.extendedClose);
  lastSpan = tradeSpan(isOfDate ? date : nextTradingDay(date));
  return lastSpan;
}

/**
 * The trade date of a print: its New York date, but from 20:00 on and on days without trading the next trading day. The
 * overnight sessions of exchanges belong to the day that follows them.
 */
export function tradeDate(tsMs: number): SessionDate {
  return tradeSpanAt(tsMs).date;
}

/**
 * The session of a capture: its New York date, or the trading day before if that date does not trade. Prints belong to
 * their `tradeDate`.
 */
export function sessionOf(tsMs: number): SessionDate {
  return tradingDayAtOrBefore(exchangeDate(tsMs));
}

/** True if a session is over at `nowMs`: its date has ended in New York, and its data no longer changes. */
export function isSealed(session: SessionDate, nowMs: number): boolean {
  return session < exchangeDate(nowMs);
}

/** A minute of the day as `HH:MM`. */
export function clockTime(minuteOfDay: number): string {
  return `${String(Math.floor(minuteOfDay / 60)).padStart(2, '0')}:${String(minuteOfDay % 60).padStart(2, '0')}`;
}
