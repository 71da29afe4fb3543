import {
  type PremiumRatios,
  premiumBefore,
  premiumRatios,
  type SessionPremium,
} from '../../core/analytics/flow/unusual.ts';
import { previousTradingDay, sessionsUpTo, tradeSpan, tradingDayAtOrBefore } from '../../core/domain/calendar.ts';
import { exchangeDate, exchangeInstant, exchangeMinuteOfDay, type SessionDate } from '../../core/domain/market-time.ts';
import { batched } from '../../platform/runtime/batched.ts';
import { minuteMs } from '../../platform/runtime/clock.ts';
import { premiumSessions } from '../../store/flow/cross-sections.ts';
import { fromSource, ofAllInstants, type RequestContext } from '../context.ts';
import { currentDate } from '../current-date.ts';
import { type ResponseMeta, responseMeta } from '../response-meta.ts';
import { flowSource, spanOf } from '../source-keys.ts';
import { requireFlowOf } from './flow.ts';

/** Sessions before that a session's premium is compared with: a month of trading. */
export const unusualSessions = 20;

export interface UnusualMeta extends ResponseMeta {
  /** Why there are no ratios; null if there are any. */
  note: string | null;
}

/** Premium of the latest session so far against the sessions before, to the same minute. */
export interface UnusualFlow {
  symbol: string;
  sessionDate: SessionDate;
  /** End of the last minute that counts, epoch ms. */
  throughMs: number;
  /** Null when nothing of the session was observed before `throughMs`. */
  premium: SessionPremium | null;
  ratios: PremiumRatios;
  /** Sessions in the means. */
  sessions: number;
  meta: UnusualMeta;
}

/** The instant of a session at the clock time at which another one stands, epoch ms; its end if that one is over. */
function sameMinute(session: SessionDate, of: SessionDate, throughMs: number): number {
  if (throughMs >= tradeSpan(of).toMs) return tradeSpan(session).toMs;
  // An evening before belongs to the session of the next day.
  const date = exchangeDate(throughMs);
  return exchangeInstant(date < of ? previousTradingDay(session) : session, exchangeMinuteOfDay(throughMs));
}

/** Call and put premium of the current session over their mean of the 20 sessions before, to the same minute. */
export async function unusualFlow(context: RequestContext, symbol: string): Promise<UnusualFlow> {
  await requireFlowOf(context, symbol);
  const to = tradingDayAtOrBefore(await currentDate(context));
  const range = { from: sessionsUpTo(to, unusualSessions + 1)[0]!, to };
  const found = await batched(ofAllInstants(context), `premium minutes ${to}`, symbol, (symbols) =>
    fromSource(context, 'option_tape', () => premiumSessions(context.store, symbols, range)),
  );
  const { nowMs } = context;
  const throughMs = Math.min(nowMs - (nowMs % minuteMs), tradeSpan(to).toMs);
  const session = found?.find(({ sessionDate }) => sessionDate === to) ?? null;
  // A store of a past session holds its later minutes too.
  const hasBegun = session !== null && session.minutes.tsMs[0]! < throughMs;
  const premium = hasBegun ? premiumBefore(session.minutes, throughMs) : null;
  const before = (found ?? [])
    .filter(({ sessionDate }) => sessionDate < to)
    .map(({ sessionDate, minutes }) => premiumBefore(minutes, sameMinute(sessionDate, to, throughMs)));
  const note = premium === null ? `No option trades of ${symbol} were observed in the session ${to}.` : null;
  return {
    symbol,
    sessionDate: to,
    throughMs,
    premium,
    ratios: premium === null ? { call: null, put: null } : premiumRatios(premium, before),
    sessions: before.length,
    meta: {
      ...responseMeta(context, 'live', [], () => {
        const span = spanOf((found ?? []).map(({ sessionDate }) => sessionDate));
        return span ? [flowSource(symbol, ...span)] : [];
      }),
      note: note ?? (before.length === 0 ? `No session of ${symbol} before ${to} has premium by minute.` : null),
    },
  };
}
