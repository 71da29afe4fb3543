import { nextTradingDay, previousTradingDay, regularSession, tradingDayAtOrBefore } from './calendar.ts';
import { exchangeDate, type SessionDate } from './market-time.ts';

/** The exchange's calendar at an instant. Regular hours; all times epoch ms. */
export interface MarketClock {
  nowMs: number;
  isOpen: boolean;
  /** The latest session whose regular hours have begun. */
  sessionDate: SessionDate;
  openMs: number;
  closeMs: number;
  nextOpenMs: number;
}

/** The market's hours as of `nowMs`. */
export function marketClock(nowMs: number): MarketClock {
  const day = tradingDayAtOrBefore(exchangeDate(nowMs));
  const sessionDate = nowMs < regularSession(day)!.openMs ? previousTradingDay(day) : day;
  const { openMs, closeMs } = regularSession(sessionDate)!;
  const nextOpenMs = regularSession(nextTradingDay(sessionDate))!.openMs;
  return { nowMs, isOpen: nowMs < closeMs, sessionDate, openMs, closeMs, nextOpenMs };
}
