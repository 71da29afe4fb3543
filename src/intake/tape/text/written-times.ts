import { exchangeInstant, isDate } from '../../../core/domain/market-time.ts';
import { dayMs, minuteMs } from '../../../platform/runtime/clock.ts';

/** Epoch ms of a New York date at a millisecond of its day; NaN for another text. */
export function exchangeMs(date: string, msOfDay: string | number): number {
  const [, year, month, day] = /^(\d{4})-?(\d{2})-?(\d{2})$/.exec(date) ?? [];
  const iso = `${year}-${month}-${day}`;
  const ms = typeof msOfDay === 'number' ? msOfDay : /^\d{1,8}$/.test(msOfDay) ? Number(msOfDay) : Number.NaN;
  if (!isDate(iso) || !(ms >= 0 && ms < dayMs)) return Number.NaN;
  return exchangeInstant(iso, Math.floor(ms / minuteMs)) + (ms % minuteMs);
}

const stamp = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?\s?(Z|[+-]\d{2}:?\d{2})?$/;

/** Epoch ms of `YYYY-MM-DDTHH:MM[:SS[.fff]]`, in New York time unless it has an offset; NaN for another text. */
export function stampedMs(text: string): number {
  const [, date, hours, minutes, seconds = '00', fraction = '', offset] = stamp.exec(text.trim()) ?? [];
  if (date === undefined || Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59) return Number.NaN;
  const ms = Number(fraction.slice(0, 3).padEnd(3, '0'));
  const ofDay = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000 + ms;
  if (offset === undefined) return exchangeMs(date, ofDay);
  if (!isDate(date)) return Number.NaN;
  const zone = offset === 'Z' || offset.includes(':') ? offset : `${offset.slice(0, 3)}:${offset.slice(3)}`;
  return Date.parse(`${date}T00:00:00${zone}`) + ofDay;
}

/** Nanoseconds of epoch ms, as digits; `otherwise` if there is no instant, for the check of the column. */
export function nanosText(tsMs: number, otherwise: string): string {
  return Number.isFinite(tsMs) ? `${tsMs}000000` : otherwise;
}
