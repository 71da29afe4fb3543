import { tradeDate } from '../domain/calendar.ts';
import { exchangeDate, type SessionDate } from '../domain/market-time.ts';
import { oncePerRequest } from '../runtime/once-per-request.ts';
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
