import { requireReadable } from '../../access/entitlement/entitlement.ts';
import { exchangeDate, exchangeInstant, type SessionDate } from '../../core/domain/market-time.ts';
import { batched } from '../../platform/runtime/batched.ts';
import { lastBarStarts } from '../../store/market/bar-blocks.ts';
import { fromSource, type RequestContext, realTicker } from '../context.ts';
import { currentDate } from '../current-date.ts';
import { loadDailyBars } from './daily-bars.ts';

/** Start of the search for bars, epoch ms: few enough years to cache their headers. */
const earliestMs = Date.UTC(1950, 0);

/**
 * The latest session with a stored daily bar of the symbol, as of the request; null = none. The bar of the current
 * session counts even before its date.
 */
export async function lastSession(context: RequestContext, symbol: string): Promise<SessionDate | null> {
  requireReadable(context.caller, await realTicker(context, symbol));
  const currentMs = exchangeInstant(await currentDate(context));
  const lastMs = await lastBarBefore(context, symbol, Math.max(context.nowMs, currentMs) + 1);
  if (lastMs === null || lastMs < currentMs || !context.store.endedBarsOnly) return dateOf(lastMs);
  // The store may hold the whole session: it counts once something of it has traded.
  const day = (await loadDailyBars(context, symbol)).at(-1);
  if (day && day.tsMs >= currentMs) return dateOf(lastMs);
  return dateOf(await lastBarBefore(context, symbol, currentMs));
}

const dateOf = (tsMs: number | null) => (tsMs === null ? null : exchangeDate(tsMs));

function lastBarBefore(context: RequestContext, symbol: string, toMs: number): Promise<number | null> {
  return batched(context, `last sessions before ${toMs}`, symbol, (symbols) =>
    fromSource(context, 'bars', () => lastBarStarts(context.store, symbols, '1d', earliestMs, toMs)),
  );
}
