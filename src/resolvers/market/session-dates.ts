import { requireReadable } from '../../access/entitlement/entitlement.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { batched } from '../../platform/runtime/batched.ts';
import { storedSessions } from '../../store/market/stored-sessions.ts';
import { fromStore, type RequestContext, realTicker } from '../context.ts';
import { hasTradedToday, shownSessions } from './sessions.ts';

/** Maximum number of listed sessions of a symbol. */
export const maxSessions = 250;

/** The sessions with stored data of the symbol, latest first, as of the request. */
export async function sessionDates(context: RequestContext, symbol: string): Promise<SessionDate[]> {
  requireReadable(context.caller, await realTicker(context, symbol));
  const shown = shownSessions(context);
  const [found, tradedToday] = await Promise.all([
    batched(context, 'stored sessions', symbol, (symbols) =>
      fromStore('session dates', () => storedSessions(context.store, symbols, shown, maxSessions)),
    ),
    hasTradedToday(context, symbol),
  ]);
  const dates = found ?? [];
  return tradedToday && dates[0] !== shown.through ? [shown.through, ...dates].slice(0, maxSessions) : dates;
}
