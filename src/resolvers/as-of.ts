import { addDays, exchangeTimeZone, parseInstant, type SessionDate, startOfDate } from '../domain/market-time.ts';

/** Which stored state is asked for. */
export interface AsOf {
  /** The last instant that counts, epoch ms; never later than the server's clock. */
  atMs: number;
  /** Set when nothing but a date was written. */
  bareDate: SessionDate | null;
}

/** The moment a caller wrote: an instant, or a whole date in `tz`, whose last state is meant. Throws 400 naming `parameter`. */
export function parseAsOf(text: string, tz: string | null | undefined, parameter: string, nowMs: number): AsOf {
  const zone = tz ?? exchangeTimeZone;
  const { ms, bareDate } = parseInstant(text, zone, parameter);
  const end = bareDate === null ? ms : startOfDate(addDays(bareDate, 1), zone) - 1;
  return { atMs: Math.min(end, nowMs), bareDate };
}
