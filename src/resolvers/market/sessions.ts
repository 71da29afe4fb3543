import { requireReadable } from '../../access/entitlement/entitlement.ts';
import { isTradingDay, tradeSpan } from '../../core/domain/calendar.ts';
import type { DataOrigin } from '../../core/domain/dataset.ts';
import { addDays, exchangeDate, exchangeInstant, type SessionDate } from '../../core/domain/market-time.ts';
import { partsSoFar } from '../../live/served-bars.ts';
import { batched } from '../../platform/runtime/batched.ts';
import { invalidParameter } from '../../platform/wire/failure.ts';
import { lastBarStarts } from '../../store/market/bar-blocks.ts';
import { originsOf, type SymbolSession } from '../../store/market/session-origins.ts';
import {
  noContents,
  type SessionContents,
  type ShownSessions,
  sessionContents,
} from '../../store/market/stored-sessions.ts';
import { fromSource, ofAllInstants, type RequestContext, realTicker } from '../context.ts';
import { currentDate } from '../current-date.ts';
import { lastOffExchangeSession } from '../publication.ts';
import { loadDailyBars } from './stock-bars.ts';

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

/**
 * The sessions of which something is shown at the request's instant. Where the store may hold later bars too, those of
 * today's session are left to `hasTradedToday`.
 */
export function shownSessions(context: RequestContext): ShownSessions {
  const { nowMs, store } = context;
  const through = exchangeDate(nowMs);
  return {
    through,
    atMs: nowMs,
    barsThrough: store.endedBarsOnly ? addDays(through, -1) : through,
    offExchangeThrough: lastOffExchangeSession(context),
  };
}

/** True if the store may hold later bars too, and has one of the symbol's session of today by the request's instant. */
export async function hasTradedToday(context: RequestContext, symbol: string): Promise<boolean> {
  const { store, nowMs } = context;
  const today = exchangeDate(nowMs);
  if (!store.endedBarsOnly || !isTradingDay(today)) return false;
  const { fromMs, toMs } = tradeSpan(today);
  const parts = await batched(context, 'bars of today', symbol, (symbols) =>
    fromSource(context, 'bars', () => partsSoFar(store, symbols, fromMs, Math.min(nowMs, toMs))),
  );
  return parts!.tsMs.length > 0;
}

/** As `hasTradedToday`, also if today's session is stored as a day bar alone. */
async function hasBarsToday(context: RequestContext, symbol: string): Promise<boolean> {
  if (!context.store.endedBarsOnly) return false;
  const today = exchangeDate(context.nowMs);
  const [hasTraded, days] = await Promise.all([hasTradedToday(context, symbol), loadDailyBars(context, symbol)]);
  return hasTraded || days.some(({ tsMs }) => exchangeDate(tsMs) === today);
}

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
