import { Temporal } from 'temporal-polyfill';
import { dayMs } from '../../platform/runtime/clock.ts';
import { InvalidValue } from '../../platform/runtime/invalid-value.ts';
import { maxEpochMs } from './units.ts';

/** The exchange's time zone: sessions are dates in it. */
export const exchangeTimeZone = 'America/New_York';

/**
 * A date `YYYY-MM-DD`. Session dates are dates in New York. Callers can write the years 0000 to 9999; a day before or
 * after them has a sign and six digits (`+010000-01-01`), as in ISO 8601.
 */
export type SessionDate = string;

/** A period of constant UTC offset. */
interface OffsetSpan {
  startMs: number;
  endMs: number;
  offsetMs: number;
}

// Converting through a time-zone library takes microseconds; an offset lasts half a year, so the last period is cached
// and nearly every call is one comparison.
const spans: OffsetSpan[] = [];
let lastSpan: OffsetSpan = { startMs: 0, endMs: 0, offsetMs: 0 };

function offsetSpan(tsMs: number): OffsetSpan {
  if (tsMs >= lastSpan.startMs && tsMs < lastSpan.endMs) return lastSpan;
  const known = spans.find((span) => tsMs >= span.startMs && tsMs < span.endMs);
  if (known) {
    lastSpan = known;
    return known;
  }
  const zoned = Temporal.Instant.fromEpochMilliseconds(tsMs).toZonedDateTimeISO(exchangeTimeZone);
  // `previous` finds a transition strictly before, so the next millisecond is passed.
  const start = zoned.add({ milliseconds: 1 }).getTimeZoneTransition('previous');
  const end = zoned.getTimeZoneTransition('next');
  lastSpan = {
    startMs: start?.epochMilliseconds ?? -Infinity,
    endMs: end?.epochMilliseconds ?? Infinity,
    offsetMs: zoned.offsetNanoseconds / 1e6,
  };
  spans.push(lastSpan);
  return lastSpan;
}

/** New York's offset from UTC at one point in time, in ms (−18000000 in winter). */
export function exchangeOffsetMs(tsMs: number): number {
  return offsetSpan(tsMs).offsetMs;
}

/** Days from 0000-03-01 to 1970-01-01: leap days end a year that begins in March. */
const epochFromMarch = 719_468;
const digits = (text: string, start: number) =>
  text.charCodeAt(start) * 10 + text.charCodeAt(start + 1) - 11 * '0'.charCodeAt(0);

/** Days since 1970-01-01 of a date. Arithmetic on dates is done in these. */
export function epochDay(date: SessionDate): number {
  // Only years of four digits have this form. It is ten times as fast as `Date.parse`, and every request uses dates.
  if (date.length !== 10) return Date.parse(`${date}T00:00:00Z`) / dayMs;
  const month = digits(date, 5);
  const year = digits(date, 0) * 100 + digits(date, 2) - (month <= 2 ? 1 : 0);
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + digits(date, 8) - 1;
  const leapDays = Math.floor(year / 4) - Math.floor(year / 100) + Math.floor(year / 400);
  return year * 365 + leapDays + dayOfYear - epochFromMarch;
}

/** Number of cached dates, from 1970 to 2134, by epoch day, filled on demand. */
const datesKept = 60_000;
const dates = new Array<SessionDate | undefined>(datesKept);

// Everything except the 14 characters of `T00:00:00.000Z`: the part before them has no fixed length.
const written = (day: number): SessionDate => new Date(day * dayMs).toISOString().slice(0, -14);

/** The date of an epoch day. */
export function dateOfEpochDay(day: number): SessionDate {
  if (!(day >= 0 && day < datesKept)) return written(day);
  let date = dates[day];
  if (date === undefined) {
    date = written(day);
    dates[day] = date;
  }
  return date;
}

const dateOfUtc = (ms: number) => dateOfEpochDay(Math.floor(ms / dayMs));

/** The date `days` after `date` (before, if negative). */
export function addDays(date: SessionDate, days: number): SessionDate {
  return dateOfEpochDay(epochDay(date) + days);
}

/** The New York date of an instant. */
export function exchangeDate(tsMs: number): SessionDate {
  return dateOfUtc(tsMs + exchangeOffsetMs(tsMs));
}

/** Minutes since midnight in New York at one point in time (0…1439). */
export function exchangeMinuteOfDay(tsMs: number): number {
  const local = tsMs + exchangeOffsetMs(tsMs);
  return Math.floor((local - Math.floor(local / dayMs) * dayMs) / 60_000);
}

/**
 * The instant a New York date reaches a minute of its day (0 = midnight). Clock changes happen at 02:00, outside any
 * session.
 */
export function exchangeInstant(date: SessionDate, minuteOfDay = 0): number {
  const local = epochDay(date) * dayMs + minuteOfDay * 60_000;
  const guess = local - exchangeOffsetMs(local);
  return local - exchangeOffsetMs(guess);
}

const datePattern = /^\d{4}-\d{2}-\d{2}$/;

/** True if `text` is a real date `YYYY-MM-DD`. */
export function isDate(text: string): boolean {
  if (!datePattern.test(text)) return false;
  const ms = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
}

/** No session is before it. */
export const earliestDate: SessionDate = '1900-01-01';

/** Returns the date, or throws `InvalidValue` naming `parameter`. */
export function parseDate(text: string, parameter: string): SessionDate {
  if (!isDate(text))
    throw new InvalidValue(parameter, `expected a date YYYY-MM-DD, got ${JSON.stringify(text.slice(0, 40))}`);
  if (text < earliestDate) throw new InvalidValue(parameter, `expected ${earliestDate} or later, got "${text}"`);
  return text;
}

/** Minutes since midnight of `HH:MM`, or throws `InvalidValue` naming `parameter`. */
export function parseClockTime(text: string, parameter: string): number {
  const match = /^(\d{2}):(\d{2})$/.exec(text);
  const [hour, minute] = match ? [Number(match[1]), Number(match[2])] : [99, 99];
  if (hour > 23 || minute > 59)
    throw new InvalidValue(parameter, `expected a time HH:MM, got ${JSON.stringify(text.slice(0, 40))}`);
  return hour * 60 + minute;
}

// Querying the time-zone database costs 0.1 ms; valid zones are a few hundred at most, with a few more spellings.
const knownZones = new Set<string>([exchangeTimeZone, 'UTC']);

/** True if `name` is an IANA time zone. Bare offsets such as `+05:00` are not. */
export function isTimeZone(name: string): boolean {
  if (knownZones.has(name)) return true;
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]*$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
  } catch {
    return false;
  }
  if (knownZones.size < 2000) knownZones.add(name);
  return true;
}

/**
 * The instant at which clocks in New York show a local time, given as ms since the epoch of a clock without an offset:
 * the later instant for one skipped by a clock change, the earlier for a repeated one.
 */
function exchangeLocal(local: number): number {
  const [before, after] = [exchangeOffsetMs(local - dayMs), exchangeOffsetMs(local + dayMs)];
  const earlier = local - Math.max(before, after);
  if (before === after || earlier + exchangeOffsetMs(earlier) === local) return earlier;
  return local - Math.min(before, after);
}

/** The instant at which a date begins in `timeZone`, epoch ms. */
export function startOfDate(date: SessionDate, timeZone: string): number {
  if (timeZone === exchangeTimeZone) return exchangeLocal(epochDay(date) * dayMs);
  return Temporal.PlainDate.from(date).toZonedDateTime({ timeZone }).epochMilliseconds;
}

/** A point in time as sent: the instant, and the date if only a date was sent. */
export interface WrittenInstant {
  ms: number;
  bareDate: SessionDate | null;
}

const instantPattern = /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+-]\d{2}:?\d{2})?)?$/i;

/**
 * Reads epoch ms digits, `YYYY-MM-DD`, or `YYYY-MM-DDTHH:MM[:SS[.fff]]` in `timeZone`; a trailing `Z` or offset takes
 * precedence (contract-notes 1). A local time skipped by a clock change reads as the later instant, a repeated one as
 * the earlier. A fraction finer than a millisecond is rounded up. Throws `InvalidValue` naming `parameter`.
 */
export function parseInstant(text: string, timeZone: string, parameter: string): WrittenInstant {
  const wrong = () =>
    new InvalidValue(
      parameter,
      `expected epoch milliseconds, YYYY-MM-DD or YYYY-MM-DDTHH:MM[:SS], got ${JSON.stringify(text.slice(0, 40))}`,
    );
  if (/^\d+$/.test(text)) {
    const ms = Number(text);
    if (ms > maxEpochMs) throw wrong();
    return { ms, bareDate: null };
  }
  const match = instantPattern.exec(text);
  if (!match || !isDate(match[1]!)) throw wrong();
  const [, date, hour, minute, second = '00', fraction = '', offset] = match as unknown as string[];
  if (hour === undefined) return { ms: startOfDate(date!, timeZone), bareDate: date! };
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) throw wrong();
  const millis = fraction.slice(0, 3).padEnd(3, '0');
  const roundedUp = /[1-9]/.test(fraction.slice(3)) ? 1 : 0;
  const local = `${date}T${hour}:${minute}:${second}.${millis}`;
  if (offset !== undefined) {
    const iso = /^z$/i.test(offset) ? 'Z' : offset.includes(':') ? offset : `${offset.slice(0, 3)}:${offset.slice(3)}`;
    const ms = Date.parse(local + iso);
    if (Number.isNaN(ms)) throw wrong();
    return { ms: ms + roundedUp, bareDate: null };
  }
  // A time-zone library takes ten times as long.
  if (timeZone === exchangeTimeZone) return { ms: exchangeLocal(Date.parse(`${local}Z`)) + roundedUp, bareDate: null };
  // 'compatible' is this rule: the later instant of a gap, the earlier of a repetition.
  const zoned = Temporal.PlainDateTime.from(local).toZonedDateTime(timeZone, { disambiguation: 'compatible' });
  return { ms: zoned.epochMilliseconds + roundedUp, bareDate: null };
}

// As seconds 1985 to 2128; as milliseconds the first two months of 1970, for which there is no data.
const [leastSeconds, mostSeconds] = [5e8, 5e9];

/** Throws `InvalidValue` naming `parameter` for epoch milliseconds that look like seconds. */
export function rejectSeconds(ms: number, parameter: string): void {
  if (ms >= leastSeconds && ms <= mostSeconds)
    throw new InvalidValue(parameter, `expected epoch milliseconds, got ${ms}, which looks like seconds`);
}

/**
 * `parseInstant` for a requested time: milliseconds beyond the year 9999 read as its last one, so that an open-ended
 * range can be written with a large number. Throws `InvalidValue` for seconds too.
 */
export function parseRequestedInstant(text: string, timeZone: string, parameter: string): WrittenInstant {
  if (/^\d+$/.test(text)) {
    const ms = Math.min(Number(text), maxEpochMs);
    rejectSeconds(ms, parameter);
    return { ms, bareDate: null };
  }
  return parseInstant(text, timeZone, parameter);
}
