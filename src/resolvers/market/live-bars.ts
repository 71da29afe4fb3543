import { requireReadable } from '../../access/entitlement/entitlement.ts';
import type { Series, StockBar } from '../../core/domain/market/bar.ts';
import { type BarState, barsSince, keyOf, missed } from '../../live/bars.ts';
import type { Following } from '../../live/topics.ts';
import { invalidParameter } from '../../platform/wire/failure.ts';
import { type RequestContext, realTicker, requireSource } from '../context.ts';
import { resumption, type Since } from '../since.ts';

/** Following a symbol's bars: the newest, then each new or changed one; withdrawn bars are not reported. */
export async function barsFollowing(
  context: RequestContext,
  { symbol, timeframe }: Series,
  since: Since,
): Promise<Following<BarState, StockBar>> {
  requireReadable(context.caller, await realTicker(context, symbol));
  requireSource(context, 'bars');
  const { after } = context;
  if (after !== null && !/^\d{1,15}\.[0-9a-z]{1,7}\.[0-9a-z]{1,7}$/.test(after))
    throw invalidParameter('after', 'expected a position in a stream of bars');
  const series = { symbol, timeframe };
  return {
    keys: [keyOf(series)],
    resume: resumption(context, since, {
      after: (state, position, store) => missed(store, series, position, state),
      since: (state, sinceMs, store) => barsSince(store, series, sinceMs, state),
    }),
    check: async (caller) => requireReadable(caller, await realTicker(context, symbol)),
  };
}
