import { tradeDate } from '../core/domain/calendar.ts';
import { type Failure, invalidParameter } from '../platform/wire/failure.ts';

/** 400 for a `since` before the first instant that is served, which it names. */
export function tooEarly(firstMs: number, reason: string): Failure {
  const first = `${firstMs} (${new Date(firstMs).toISOString()})`;
  return invalidParameter('since', `${reason}; the earliest time that can be sent is ${first}`);
}

/**
 * Throws 400 if `sinceMs` is of an earlier trade date than the oldest stored data, at `oldestMs`, epoch ms; null =
 * there is none. The trade date of the oldest data is stored from its beginning.
 */
export function requireHeld(sinceMs: number, oldestMs: number | null, data: string): void {
  if (oldestMs !== null && tradeDate(sinceMs) < tradeDate(oldestMs))
    throw tooEarly(oldestMs, `older ${data} are not stored`);
}
