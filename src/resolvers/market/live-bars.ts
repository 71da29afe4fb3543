import { requireReadable } from '../../access/entitlement/entitlement.ts';
import type { StockBar, Timeframe } from '../../domain/market/bar.ts';
import { keyOf, missed } from '../../live/bars.ts';
import type { LiveSource } from '../../live/source.ts';
import { invalidParameter } from '../../wire/failure.ts';
import { type RequestContext, realTicker, requireSource } from '../context.ts';

/** A symbol's bars: the newest, then each new or changed one; withdrawn bars are not reported. */
export async function followBars(
  context: RequestContext,
  symbol: string,
  timeframe: Timeframe,
): Promise<LiveSource<StockBar>> {
  requireReadable(context.caller, await realTicker(context, symbol));
  requireSource(context, 'bars');
  const { after } = context;
  if (after !== null && !/^\d{1,15}\.[0-9a-z]{1,7}\.[0-9a-z]{1,7}$/.test(after))
    throw invalidParameter('after', 'expected a position in a stream of bars');
  const series = { symbol, timeframe };
  return context.live.bars.follow({
    keys: [keyOf(series)],
    resume: after === null ? null : { after, read: (state) => missed(context.live.store, series, after, state) },
    check: async (caller) => requireReadable(caller, await realTicker(context, symbol)),
  });
}
