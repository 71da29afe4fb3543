import { requireFlow } from '../../access/entitlement/entitlement.ts';
import type { LargeTrade } from '../../core/domain/flow/flow.ts';
import { feedKey, parsePosition, readBetween, tradesSince, type Wish } from '../../live/large-trades.ts';
import type { Following } from '../../live/topics.ts';
import type { FeedStep } from '../../store/flow/feed-pages.ts';
import { type RequestContext, requireSource } from '../context.ts';
import { resumption, type Since } from '../since.ts';
import { requireFlowFilter, requireFlowOf } from './flow.ts';

/** The filter of large trades. */
export interface LargeTradeFilter {
  symbol?: string | null | undefined;
  minPremiumUsd?: number | null | undefined;
}

/**
 * Following large trades as they are detected, of one underlying or of all; a changed one is sent again. 400 and 403 as
 * for the page of them.
 */
export async function largeTradesFollowing(
  context: RequestContext,
  filter: LargeTradeFilter,
  since: Since,
): Promise<Following<FeedStep, LargeTrade>> {
  const wish: Wish = { underlying: filter.symbol ?? null, minPremiumUsd: filter.minPremiumUsd ?? null };
  const check = async (caller: RequestContext['caller']) => {
    requireFlow(caller);
    if (wish.underlying !== null) await requireFlowOf({ ...context, caller }, wish.underlying);
  };
  requireFlow(context.caller);
  requireFlowFilter(context, filter);
  await check(context.caller);
  requireSource(context, 'option_tape');
  const seen = context.after === null ? [] : parsePosition(context.after);
  return {
    keys: [feedKey],
    resume: resumption(context, since, {
      after: (through, _position, store) => readBetween(store, seen, through, wish),
      since: (through, sinceMs, store) => tradesSince(store, sinceMs, through, wish),
    }),
    wants: ({ symbol: underlying, event }) =>
      (wish.underlying === null || underlying === wish.underlying) &&
      (wish.minPremiumUsd === null || event.premiumUsd >= wish.minPremiumUsd),
    check,
  };
}
