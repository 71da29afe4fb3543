import { requireReadable } from '../../access/entitlement/entitlement.ts';
import { exchangeDate, type SessionDate } from '../../domain/market-time.ts';
import { batched } from '../../runtime/batched.ts';
import { storedSessions } from '../../store/market/stocked-sessions.ts';
import { fromStore, type RequestContext, realTicker } from '../context.ts';

/** Maximum number of listed sessions of a symbol. */
export const maxSessions = 250;

/** The sessions with stored data of the symbol, latest first, as of the request. */
export async function sessionDates(context: RequestContext, symbol: string): Promise<SessionDate[]> {
  requireReadable(context.caller, await realTicker(context, symbol));
  const through = exchangeDate(context.nowMs);
  const all = await batched(context, 'stored sessions', symbol, (symbols) =>
    fromStore('session dates', () => storedSessions(context.store, symbols, through, maxSessions)),
  );
  return all ?? [];
}
