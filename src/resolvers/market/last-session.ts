import { requireReadable } from '../../access/entitlement/entitlement.ts';
import { exchangeDate, exchangeInstant, type SessionDate } from '../../domain/market-time.ts';
import { batched } from '../../runtime/batched.ts';
import { lastBarStarts } from '../../store/market/bar-blocks.ts';
import { fromSource, type RequestContext, realTicker } from '../context.ts';
import { currentDate } from '../current-date.ts';

/** Start of the search for bars, epoch ms: few enough years to cache their headers. */
const earliestMs = Date.UTC(1950, 0);

/**
 * The latest session with a stored daily bar of the symbol, as of the request; null = none. The bar of the current
 * session counts even before its date.
 */
export async function lastSession(context: RequestContext, symbol: string): Promise<SessionDate | null> {
  requireReadable(context.caller, await realTicker(context, symbol));
  const throughMs = Math.max(context.nowMs, exchangeInstant(await currentDate(context)));
  const lastMs = await batched(context, 'last sessions', symbol, (symbols) =>
    fromSource(context, 'bars', () => lastBarStarts(context.store, symbols, '1d', earliestMs, throughMs + 1)),
  );
  return lastMs === null ? null : exchangeDate(lastMs);
}
