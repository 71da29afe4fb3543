import { requireFlow, requireReadable } from '../../access/entitlement/entitlement.ts';
import { isTradingDay, previousTradingDay, regularSession } from '../../core/domain/calendar.ts';
import { exchangeDate, exchangeInstant, exchangeMinuteOfDay, type SessionDate } from '../../core/domain/market-time.ts';
import { minuteMs } from '../../platform/runtime/clock.ts';
import { invalidParameter } from '../../platform/wire/failure.ts';
import { type RequestContext, registeredSymbol } from '../context.ts';

/** `meta.retention`: the live feed of about a day, or a session requested by its date (contract-notes 2). */
export function flowRetention(session: SessionDate | null): 'intraday_24h' | 'stored_session' {
  return session === null ? 'intraday_24h' : 'stored_session';
}

/**
 * Start of the live feed, epoch ms (contract-notes 2): the same clock time on the trading day before; on a day without
 * a session no later than the open of the last one, so that a weekend shows all of it.
 */
export function feedStartMs(nowMs: number): number {
  const today = exchangeDate(nowMs);
  const before = previousTradingDay(today);
  const sameTime = exchangeInstant(before, exchangeMinuteOfDay(nowMs)) + (nowMs % minuteMs);
  return isTradingDay(today) ? sameTime : Math.min(sameTime, regularSession(before)!.openMs);
}

/** Filters of a request for flow. */
interface FlowFilter {
  symbol?: string | null | undefined;
  /** Dollars. */
  minPremiumUsd?: number | null | undefined;
}

/**
 * Throws 400 unless the filter can be served to the caller: an API key must send `symbol` or `min_premium_usd` (spec
 * 8).
 */
export function requireFlowFilter({ caller }: RequestContext, { symbol, minPremiumUsd }: FlowFilter): void {
  if (minPremiumUsd != null && minPremiumUsd < 0)
    throw invalidParameter('min_premium_usd', 'expected 0 or more dollars');
  if (caller.kind === 'key' && symbol == null && minPremiumUsd == null)
    throw invalidParameter('symbol', 'with an API key, symbol or min_premium_usd is required');
}

/**
 * Throws 403 or 404 unless the caller may read an underlying's flow: flow's own rule is checked first, then the
 * symbol's.
 */
export async function requireFlowOf(context: RequestContext, symbol: string): Promise<void> {
  requireFlow(context.caller);
  requireReadable(context.caller, await registeredSymbol(context, symbol));
}
