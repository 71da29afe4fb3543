import { nextTradingDay, regularSession, tradeDate, tradeSpan } from '../core/domain/calendar.ts';
import { exchangeDate, type SessionDate } from '../core/domain/market-time.ts';
import type { MaybePromise } from '../platform/runtime/maybe-promise.ts';
import { oncePerRequest } from '../platform/runtime/once-per-request.ts';
import { hasBegun } from '../store/market/session-begun.ts';
import { fromStore, type RequestContext } from './context.ts';

/**
 * The date of the current session, which begins with the first stored print of the next trade date: until then, and at
 * the latest from midnight on, the New York date, even one without trading.
 */
export function currentDate(context: RequestContext): Promise<SessionDate> {
  // The same for all symbols and for everybody.
  const { sharedStore: store, nowMs } = context;
  const [date, next] = [exchangeDate(nowMs), tradeDate(nowMs)];
  if (next === date) return Promise.resolve(date);
  return oncePerRequest(context, `current date ${nowMs}`, () =>
    fromStore('sessions', async () => ((await hasBegun(store, next, nowMs)) ? next : date)),
  );
}

/**
 * True if the session after one has begun: a print or a capture of it is stored, or its regular hours have opened.
 * `session` is a trading day.
 */
export function isOver(context: RequestContext, session: SessionDate): MaybePromise<boolean> {
  const { sharedStore: store, nowMs } = context;
  const next = nextTradingDay(session);
  if (nowMs >= regularSession(next)!.openMs) return true;
  if (nowMs < tradeSpan(next).fromMs) return false;
  return oncePerRequest(context, `session begun ${next} ${nowMs}`, () =>
    fromStore('sessions', () => hasBegun(store, next, nowMs)),
  );
}
