import {
  addDays,
  exchangeTimeZone,
  parseRequestedInstant,
  type SessionDate,
  startOfDate,
} from '../domain/market-time.ts';

/** Which stored state is requested. */
export interface AsOf {
  /** The latest time that counts, epoch ms; never later than the server's clock. */
  atMs: number;
  /** Set if only a date was given. */
  bareDate: SessionDate | null;
}

/**
 * The time a caller sent: a point in time, or a date in `tz`, which means its last state. Throws 400 naming
 * `parameter`.
 */
export function parseAsOf(text: string, tz: string | null | undefined, parameter: string, nowMs: number): AsOf {
  const zone = tz ?? exchangeTimeZone;
  const { ms, bareDate } = parseRequestedInstant(text, zone, parameter);
  const end = bareDate === null ? ms : startOfDate(addDays(bareDate, 1), zone) - 1;
  return { atMs: Math.min(end, nowMs), bareDate };
}
