import { requireReadable } from '../../access/entitlement/entitlement.ts';
import { exchangeDate } from '../../core/domain/market-time.ts';
import { dailyPrice } from '../../live/daily-bars.ts';
import { type RequestContext, registeredSymbol } from '../context.ts';
import { type ResponseMeta, responseMeta } from '../response-meta.ts';
import { priceSource } from '../source-keys.ts';
import { loadDailyBars } from './daily-bars.ts';

/** A symbol's spot (spec 2.5). */
export interface Spot {
  symbol: string;
  /** Dollars; null without a recent bar. */
  price: number | null;
  /** Start of the daily bar whose close is the price, epoch ms; null without a recent bar. */
  ts: number | null;
  meta: ResponseMeta;
}

/**
 * The close of a registered symbol's latest daily bar (spec 4.3): the current session's in progress, else the last
 * completed one's.
 */
export async function spot(context: RequestContext, symbol: string): Promise<Spot> {
  requireReadable(context.caller, await registeredSymbol(context, symbol));
  const daily = dailyPrice(await loadDailyBars(context, symbol), context.nowMs);
  const meta = responseMeta(context, 'live', [], () =>
    daily ? [priceSource(symbol, exchangeDate(daily.bar.tsMs))] : [],
  );
  return { symbol, price: daily?.bar.close ?? null, ts: daily?.bar.tsMs ?? null, meta };
}
