import { changePct } from '../analytics/screener/quote.ts';
import type { Bar } from '../domain/bar.ts';
import { addDays, exchangeDate, exchangeInstant, type SessionDate } from '../domain/market-time.ts';
import { emptyQuote, type Quote } from '../domain/quote.ts';
import type { LiveQuote } from '../store/market/live-quotes.ts';
import { barBefore, dailyPrice, recentDays } from './daily-bars.ts';

type Price = Pick<Quote, 'spot' | 'volume' | 'officialClose' | 'sessionDate' | 'eventTsMs'>;

function dailyQuote(bars: readonly Bar[], nowMs: number): Price | null {
  const daily = dailyPrice(bars, nowMs);
  if (!daily) return null;
  const { tsMs, close: spot, volume } = daily.bar;
  const officialClose = daily.before?.close ?? null;
  return { spot, volume, officialClose, sessionDate: exchangeDate(tsMs), eventTsMs: null };
}

function liveQuote({ spot, volume, sessionDate, eventTsMs, officialClose }: LiveQuote, bars: readonly Bar[]): Price {
  const closeBefore = officialClose ?? barBefore(bars, exchangeInstant(sessionDate))?.close ?? null;
  return { spot, volume, officialClose: closeBefore, sessionDate, eventTsMs };
}

/**
 * Whether a live price counts more than the daily bar of `session`: it is of a later session, or of the one that is not
 * over.
 */
function isNewer(live: LiveQuote, session: SessionDate | null, nowMs: number): boolean {
  const today = exchangeDate(nowMs);
  if (live.eventTsMs > nowMs || live.sessionDate < addDays(today, -recentDays)) return false;
  return session === null || live.sessionDate > session || (live.sessionDate === session && session === today);
}

/**
 * The quote of a symbol at `nowMs` from its daily bars and live price. The price is the current session's as it trades,
 * else the last completed session's close. The prior close is that of the bar before it: a session in which nothing
 * traded keeps the close it found. Prices older than `recentDays`, and those later than now, do not count.
 */
export function quoteAt(symbol: string, bars: readonly Bar[], live: LiveQuote | null, nowMs: number): Quote {
  const daily = dailyQuote(bars, nowMs);
  const price = live && isNewer(live, daily?.sessionDate ?? null, nowMs) ? liveQuote(live, bars) : daily;
  if (!price) return emptyQuote(symbol);
  return { ...emptyQuote(symbol), ...price, changePct: changePct(price.spot, price.officialClose) };
}
