import { nextTradingDay, regularSession, tradingDayAtOrBefore } from '../../../core/domain/calendar.ts';
import { exchangeDate } from '../../../core/domain/market-time.ts';

/** When chains are captured. */
export interface CaptureSchedule {
  /** Interval of captures, ms; the first is at the open. */
  everyMs: number;
  /** Delay of the source's hours after the market's, ms. */
  delayMs: number;
  /** True to capture at any hour, at the multiples of `everyMs` since 1970. */
  always: boolean;
}

/** The source's hours of the session at or before an instant. */
function hoursAt(tsMs: number, delayMs: number) {
  const date = tradingDayAtOrBefore(exchangeDate(tsMs - delayMs));
  const { openMs, closeMs } = regularSession(date)!;
  return { date, openMs: openMs + delayMs, closeMs: closeMs + delayMs };
}

/** True if an instant is within the source's market hours, excluding the close. */
export function isCaptureTime(tsMs: number, { delayMs, always }: CaptureSchedule): boolean {
  const { openMs, closeMs } = hoursAt(tsMs, delayMs);
  return always || (tsMs >= openMs && tsMs < closeMs);
}

/**
 * The first instant from `fromMs` on at which a capture is due: the open and every `everyMs` after it, before the close
 * (78 of 5 minutes, 42 of a half day).
 */
export function nextCapture(fromMs: number, { everyMs, delayMs, always }: CaptureSchedule): number {
  if (always) return Math.ceil(fromMs / everyMs) * everyMs;
  const { date, openMs, closeMs } = hoursAt(fromMs, delayMs);
  const due = openMs + Math.max(0, Math.ceil((fromMs - openMs) / everyMs)) * everyMs;
  return due < closeMs ? due : regularSession(nextTradingDay(date))!.openMs + delayMs;
}

const [firstPauseMs, longestPauseMs] = [2000, 300_000];

/**
 * Pause after a number of consecutive failures, ms: 2 s, doubled each time up to 5 minutes, less a random part of up to
 * half (`random` 0…1), so that callers spread.
 */
export function backOffMs(failures: number, random: number): number {
  return Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(failures - 1, 20)) * (1 - random / 2);
}
