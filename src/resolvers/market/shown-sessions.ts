import { isTradingDay, tradeSpan } from '../../core/domain/calendar.ts';
import { addDays, exchangeDate } from '../../core/domain/market-time.ts';
import { partsSoFar } from '../../live/served-bars.ts';
import { batched } from '../../platform/runtime/batched.ts';
import type { ShownSessions } from '../../store/market/stocked-sessions.ts';
import { fromSource, type RequestContext } from '../context.ts';
import { lastOffExchangeSession } from '../publication.ts';
import { loadDailyBars } from './daily-bars.ts';

/**
 * The sessions of which something is shown at the request's instant. Where the store may hold later bars too, those of
 * today's session are left to `hasTradedToday`.
 */
export function shownSessions(context: RequestContext): ShownSessions {
  const { nowMs, store } = context;
  const through = exchangeDate(nowMs);
  return {
    through,
    atMs: nowMs,
    barsThrough: store.endedBarsOnly ? addDays(through, -1) : through,
    offExchangeThrough: lastOffExchangeSession(context),
  };
}

/** True if the store may hold later bars too, and has one of the symbol's session of today by the request's instant. */
export async function hasTradedToday(context: RequestContext, symbol: string): Promise<boolean> {
  const { store, nowMs } = context;
  const today = exchangeDate(nowMs);
  if (!store.endedBarsOnly || !isTradingDay(today)) return false;
  const { fromMs, toMs } = tradeSpan(today);
  const parts = await batched(context, 'bars of today', symbol, (symbols) =>
    fromSource(context, 'bars', () => partsSoFar(store, symbols, fromMs, Math.min(nowMs, toMs))),
  );
  return parts!.tsMs.length > 0;
}

/** As `hasTradedToday`, also if today's session is stored as a day bar alone. */
export async function hasBarsToday(context: RequestContext, symbol: string): Promise<boolean> {
  if (!context.store.endedBarsOnly) return false;
  const today = exchangeDate(context.nowMs);
  const [hasTraded, days] = await Promise.all([hasTradedToday(context, symbol), loadDailyBars(context, symbol)]);
  return hasTraded || days.some(({ tsMs }) => exchangeDate(tsMs) === today);
}
