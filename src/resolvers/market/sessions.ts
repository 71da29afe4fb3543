import { requireReadable } from '../../access/entitlement/entitlement.ts';
import type { DataOrigin } from '../../core/domain/data-origin.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { batched } from '../../platform/runtime/batched.ts';
import { invalidParameter } from '../../platform/wire/failure.ts';
import { originsOf, type SymbolSession } from '../../store/market/session-origins.ts';
import { noContents, type SessionContents, sessionContents } from '../../store/market/stored-sessions.ts';
import { ofAllInstants, type RequestContext, realTicker } from '../context.ts';
import { hasBarsToday, shownSessions } from './shown-sessions.ts';

/** A session with stored data. */
export interface StoredSession extends SessionContents {
  sessionDate: SessionDate;
  origin: DataOrigin;
}

/** Number of sessions listed: default and maximum. */
export const sessionLimits = { usual: 20, most: 250 };

/** Origin of the data of a symbol's session. */
export function originOf(context: RequestContext, { symbol, sessionDate }: SymbolSession): Promise<DataOrigin> {
  return batched(ofAllInstants(context), 'session origins', { symbol, sessionDate }, (sessions) =>
    originsOf(context.store, sessions),
  );
}

/** The sessions of which something is shown, newest first. */
async function contentsOf(context: RequestContext, symbol: string, most: number) {
  const shown = shownSessions(context);
  const [found, hasBars] = await Promise.all([
    batched(context, `session contents ${most}`, symbol, (symbols) =>
      sessionContents(context.store, symbols, shown, most),
    ),
    hasBarsToday(context, symbol),
  ]);
  if (!hasBars) return found!;
  const today = shown.through;
  const contents = { ...(found!.get(today) ?? noContents), bars: true };
  return new Map([[today, contents] as const, ...[...found!].filter(([date]) => date !== today)].slice(0, most));
}

/** Origins of the data of a symbol's sessions, in order; those of several symbols are read together. */
function originsOfSessions(context: RequestContext, symbol: string, dates: readonly SessionDate[]) {
  return batched(context, 'origins of sessions', { symbol, dates }, async (asked) => {
    const sessions = asked.flatMap((each) => each.dates.map((sessionDate) => ({ symbol: each.symbol, sessionDate })));
    const origins = await originsOf(context.store, sessions);
    return asked.map((each) => origins.splice(0, each.dates.length));
  });
}

/** The latest sessions of a symbol with stored data, newest first. */
export async function storedSessions(context: RequestContext, symbol: string, last: number): Promise<StoredSession[]> {
  requireReadable(context.caller, await realTicker(context, symbol));
  if (last < 1) throw invalidParameter('last', `expected a whole number from 1, got ${last}`);
  const found = await contentsOf(context, symbol, Math.min(last, sessionLimits.most));
  const dates = [...found.keys()];
  const origins = await originsOfSessions(context, symbol, dates);
  return dates.map((sessionDate, i) => ({ sessionDate, origin: origins[i]!, ...found.get(sessionDate)! }));
}
