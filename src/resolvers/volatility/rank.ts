import { volatilityAtDays } from '../../core/analytics/chain/volatility-surface.ts';
import { rankSessions, type VolatilityRank, volatilityRank } from '../../core/analytics/volatility.ts';
import { previousTradingDay, regularSession, sessionOf, sessionsUpTo } from '../../core/domain/calendar.ts';
import { closingMs } from '../../core/domain/chain/chain.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { batched } from '../../platform/runtime/batched.ts';
import { oncePerRequest } from '../../platform/runtime/once-per-request.ts';
import { volatilityDaysOf } from '../../store/chain/volatility-days.ts';
import { type ClosingWindow, closingVolatilities } from '../../store/gex/closing-volatilities.ts';
import { fromSource, fromStore, ofAllInstants, type RequestContext } from '../context.ts';
import type { VolatilityFigures } from './figures.ts';

export type { VolatilityRank };
export { rankSessions };

/** The sessions before one, whose values it is ranked among, ascending. */
interface Before {
  sessions: SessionDate[];
  /** Windows of their closing captures. */
  windows: ClosingWindow[];
}

function sessionsBefore(context: RequestContext, session: SessionDate): Promise<Before> {
  return oncePerRequest(context, `sessions before ${session}`, async () => {
    const sessions = sessionsUpTo(previousTradingDay(session), rankSessions.most - 1);
    const closes = sessions.map((date) => regularSession(date)!.closeMs);
    return { sessions, windows: closes.map((closeMs) => ({ fromMs: closeMs - closingMs, toMs: closeMs })) };
  });
}

/** Volatility at 30 days at the close of each session, of captures, else as it was loaded; unknown ones are absent. */
async function closesOf(context: RequestContext, symbol: string, { sessions, windows }: Before): Promise<number[]> {
  const [captured, loaded] = await Promise.all([
    context.sources.chain
      ? batched(ofAllInstants(context), `closing volatilities ${sessions[0]}`, symbol, (symbols) =>
          fromSource(context, 'chain', () => closingVolatilities(context.store, symbols, windows)),
        )
      : [],
    batched(ofAllInstants(context), `volatility days ${sessions[0]}`, symbol, (symbols) =>
      fromStore('volatility days', () => volatilityDaysOf(context.store, symbols, sessions[0]!)),
    ),
  ]);
  const known = new Map((loaded ?? []).map(({ date, iv30 }) => [date, iv30]));
  for (const { sessionDate, expiries } of captured ?? []) {
    const iv30 = volatilityAtDays(expiries, 30);
    if (iv30 !== null) known.set(sessionDate, iv30);
  }
  return sessions.flatMap((session) => known.get(session) ?? []);
}

/**
 * The rank of the volatility at 30 days among its daily values of a year, its own session's included; null when it is
 * unknown, or fewer than 60 are known.
 */
export async function rankOf(
  context: RequestContext,
  { symbol, asOfMs, maturities }: VolatilityFigures,
): Promise<VolatilityRank | null> {
  if (asOfMs === null || maturities[30] === null) return null;
  const closes = await closesOf(context, symbol, await sessionsBefore(context, sessionOf(asOfMs)));
  return volatilityRank([...closes, maturities[30]]);
}
