import { hourMs } from '../../platform/runtime/clock.ts';
import { isTradingDay, nextTradingDay } from './calendar.ts';
import { exchangeDate, type SessionDate } from './market-time.ts';

/** The plausible instants of a source, epoch ms, both ends included. */
export interface InstantBounds {
  fromMs: number;
  toMs: number;
}

const earliestMs = Date.UTC(1990, 0);

/** From 1990 to an hour after `nowMs`, because sources' clocks differ. Computed once per file. */
export function instantBounds(nowMs: number): InstantBounds {
  return { fromMs: earliestMs, toMs: nowMs + hourMs };
}

export function isWithin({ fromMs, toMs }: InstantBounds, tsMs: number): boolean {
  return tsMs >= fromMs && tsMs <= toMs;
}

const perMs = { seconds: 1e-3, milliseconds: 1, microseconds: 1e3, nanoseconds: 1e6 } as const;
export type TimeUnit = keyof typeof perMs;
/** Units of which a number is a whole number of milliseconds and some digits. */
export type FineUnit = Exclude<TimeUnit, 'seconds'>;
/** The digits of such a number below its millisecond. */
export const digitsBelowMs: Record<FineUnit, number> = { milliseconds: 0, microseconds: 3, nanoseconds: 6 };

/** The unit in which a number is an instant within the bounds; null if there is none. The units exclude each other. */
export function likelyUnit(value: number, bounds: InstantBounds): TimeUnit | null {
  const units = Object.keys(perMs) as TimeUnit[];
  return units.find((unit) => isWithin(bounds, value / perMs[unit])) ?? null;
}

const span = 'from 1990 to an hour from now';

/**
 * Describes the expected number, for one that is not an instant within the bounds in its unit since 1970. NaN stands
 * for a text that is not a number.
 */
export function expectedTime(value: number, unit: TimeUnit, bounds: InstantBounds): string {
  const likely = likelyUnit(value, bounds);
  if (!(value >= 0) || likely === unit) return `${unit} since 1970`;
  return likely === null ? `${unit} since 1970, ${span}` : `${unit} since 1970, not ${likely}`;
}

/** The reason why a parsed instant is outside the bounds. */
export function outOfBounds(tsMs: number): string {
  return `expected a time ${span}, got ${new Date(tsMs).toISOString()}`;
}

/**
 * The reason why a date is not a session with data at `nowMs`; null if it is one. Data of the next session's start,
 * such as open interest, comes the evening before.
 */
export function problemOfSession(date: SessionDate, nowMs: number): string | null {
  const latest = nextTradingDay(exchangeDate(instantBounds(nowMs).toMs));
  const isSession = date >= exchangeDate(earliestMs) && date <= latest && isTradingDay(date);
  return isSession ? null : `expected a day with trading from 1990 to ${latest}, got ${date}`;
}

/** Dates are announced at most this many years ahead. */
const announcedYears = 3;

/**
 * The reason why a date of a list is later than a source can know at `nowMs`; null if it is not. `isAnnounced`: it may
 * lie ahead.
 */
export function problemOfDate(date: SessionDate, nowMs: number, isAnnounced = false): string | null {
  const today = exchangeDate(instantBounds(nowMs).toMs);
  const latest = isAnnounced ? `${Number(today.slice(0, 4)) + announcedYears}${today.slice(4)}` : today;
  return date <= latest ? null : `expected a date up to ${latest}, got ${date}`;
}
