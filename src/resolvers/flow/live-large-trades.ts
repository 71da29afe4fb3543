import { requireFlow } from '../../access/entitlement/entitlement.ts';
import type { LargeTrade } from '../../domain/flow/flow.ts';
import { feedKey, parsePosition, readBetween, type Wish } from '../../live/large-trades.ts';
import type { LiveSource } from '../../live/source.ts';
import { type RequestContext, requireSource } from '../context.ts';
import { requireFlowFilter, requireFlowOf } from './flow.ts';

/** The followed large trades, and the position to resume from. */
export interface LargeTradeFollowing {
  symbol?: string | null | undefined;
  minPremiumUsd?: number | null | undefined;
}

/**
 * Large trades as they are detected, of one underlying or of all; a changed one is sent again. 400 and 403 as for the
 * page of them.
 */
export async function followLargeTrades(
  context: RequestContext,
  following: LargeTradeFollowing,
): Promise<LiveSource<LargeTrade>> {
  const wish: Wish = { underlying: following.symbol ?? null, minPremiumUsd: following.minPremiumUsd ?? null };
  const check = async (caller: RequestContext['caller']) => {
    requireFlow(caller);
    if (wish.underlying !== null) await requireFlowOf({ ...context, caller }, wish.underlying);
  };
  requireFlow(context.caller);
  requireFlowFilter(context, following);
  await check(context.caller);
  requireSource(context, 'option_tape');
  const { after } = context;
  const seen = after === null ? null : parsePosition(after);
  return context.live.largeTrades.follow({
    keys: [feedKey],
    resume: seen && {
      after: after!,
      read: (through) => readBetween(context.live.store, seen, through, wish),
    },
    wants: ({ symbol: underlying, event }) =>
      (wish.underlying === null || underlying === wish.underlying) &&
      (wish.minPremiumUsd === null || event.premiumUsd >= wish.minPremiumUsd),
    check,
  });
}
