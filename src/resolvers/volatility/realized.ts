import { requireReadable } from '../../access/entitlement/entitlement.ts';
import { type Realized, realizedVolatility } from '../../core/analytics/volatility.ts';
import {
  nextTradingDay,
  previousTradingDay,
  regularSession,
  tradingDayAtOrBefore,
} from '../../core/domain/calendar.ts';
import { type BarColumns, latenessMs } from '../../core/domain/market/bar.ts';
import { splitAdjusted } from '../../core/domain/market/splits.ts';
import { exchangeDate, type SessionDate } from '../../core/domain/market-time.ts';
import { batched } from '../../platform/runtime/batched.ts';
import { sliceBars } from '../../store/market/bar-blocks.ts';
import { recentDailyBars } from '../../store/market/recent-daily-bars.ts';
import { findSymbol, fromSource, type RequestContext } from '../context.ts';
import { loadSplits } from '../corporate.ts';

/** Sessions of a realized volatility: a month of trading. */
export const realizedSessions = 20;

/** Calendar days in which one session more than those lies, however the holidays fall, and ten days without a bar. */
const daysRead = 45;

/** Realized volatility over the sessions from `from` to `through`. */
export interface RealizedVolatility extends Realized {
  from: SessionDate;
  through: SessionDate;
}

/** The last session whose regular hours are over. */
export function lastClosedSession(nowMs: number): SessionDate {
  const session = tradingDayAtOrBefore(exchangeDate(nowMs));
  return nowMs >= regularSession(session)!.closeMs + latenessMs ? session : previousTradingDay(session);
}

/** The last 21 daily bars, if no session between them lacks one; null otherwise. */
function consecutive(bars: BarColumns): BarColumns | null {
  const last = bars.tsMs.length;
  if (last <= realizedSessions) return null;
  const recent = sliceBars(bars, last - realizedSessions - 1, last);
  const dates = Array.from(recent.tsMs, exchangeDate);
  return dates.every((date, i) => i === 0 || nextTradingDay(dates[i - 1]!) === date) ? recent : null;
}

/**
 * Realized volatility of the last 20 closed sessions with daily bars; null without as many in a row, or where no daily
 * bars are served. Prices of before a split are divided by its ratio.
 */
export async function realizedOf(context: RequestContext, symbol: string): Promise<RealizedVolatility | null> {
  requireReadable(context.caller, await findSymbol(context, symbol));
  if (!context.sources.bars) return null;
  const session = lastClosedSession(context.nowMs);
  const daily = await batched(context, 'sessions of a month', symbol, (symbols) =>
    fromSource(context, 'bars', () => recentDailyBars(context.store, symbols, session, daysRead)),
  );
  const bars = consecutive(daily!);
  if (bars === null) return null;
  const adjusted = splitAdjusted(bars, await loadSplits(context, symbol), session);
  const realized = realizedVolatility(adjusted);
  if (!Object.values(realized).every(Number.isFinite)) return null;
  return { ...realized, from: exchangeDate(bars.tsMs[1]!), through: exchangeDate(bars.tsMs.at(-1)!) };
}
