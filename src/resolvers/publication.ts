import { previousTradingDay, regularSession, sessionMinutes, tradingDayAtOrBefore } from '../core/domain/calendar.ts';
import { type Coverage, coverageAt } from '../core/domain/flow/flow.ts';
import { addDays, exchangeDate, exchangeInstant, type SessionDate } from '../core/domain/market-time.ts';
import type { RequestContext } from './context.ts';

// When a session's end-of-day data appears (methodology 9). A live server shows it as soon as it is stored; as of an
// instant in the past it appears at these hours, whenever its file came.

type Instant = Pick<RequestContext, 'nowMs' | 'past'>;

/** True below an instant of event time; knowledge alone leaves it live. */
const isAsOf = (past: Instant['past']) => past !== null && past.atMs !== null;

/** Minute of the New York day at which off-exchange data of the trading day before appears. */
const offExchangeMinute = 6 * 60;

/** The end of a session's extended hours, at which its lists and its reconciled coverage appear, epoch ms. */
const reconciledMs = (session: SessionDate) => exchangeInstant(session, sessionMinutes.extendedClose);

/** The last session whose end-of-day lists may be served; a live server has them from the close on. */
export function lastListedSession({ nowMs, past }: Instant): SessionDate {
  const today = exchangeDate(nowMs);
  const hours = regularSession(today);
  const fromMs = isAsOf(past) ? reconciledMs(today) : hours?.closeMs;
  return hours && nowMs >= fromMs! ? today : previousTradingDay(today);
}

/** The last session whose off-exchange data may be served; a live server has it from the next date on. */
export function lastOffExchangeSession({ nowMs, past }: Instant): SessionDate {
  const today = exchangeDate(nowMs);
  if (!isAsOf(past)) return addDays(today, -1);
  const hasPublished = nowMs >= exchangeInstant(today, offExchangeMinute);
  return previousTradingDay(hasPublished ? tradingDayAtOrBefore(today) : tradingDayAtOrBefore(addDays(today, -1)));
}

/** A session's coverage as it stood. */
export function coverageAsOf({ nowMs, past }: Instant, coverage: Coverage): Coverage {
  const stood = coverageAt(coverage, nowMs);
  return isAsOf(past) && nowMs < reconciledMs(coverage.sessionDate)
    ? { ...stood, status: 'observed_live', complete: false }
    : stood;
}
