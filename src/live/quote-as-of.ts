import { changePct } from '../core/analytics/screener/quote.ts';
import { previousTradingDay } from '../core/domain/calendar.ts';
import type { Bar } from '../core/domain/market/bar.ts';
import { emptyQuote, type Quote } from '../core/domain/market/quote.ts';
import { likelySplit, type Split, splitFactor } from '../core/domain/market/splits.ts';
import type { SymbolEntry } from '../core/domain/market/symbol.ts';
import { addDays, exchangeDate, exchangeInstant, type SessionDate } from '../core/domain/market-time.ts';
import { roundHalfEven } from '../core/domain/units.ts';
import type { LiveQuote } from '../store/market/live-quotes.ts';
import { barBefore, dailyPrice, recentDays } from './daily-bars.ts';
import { type Shown, shownThrough } from './served-bars.ts';

type Price = Pick<Quote, 'spot' | 'sessionDate' | 'eventTsMs'> & { volume: number; closed: Closed | null };

/** The official close of a session before, as printed. */
interface Closed {
  close: number;
  date: SessionDate;
}

/** Inputs of a symbol's quote. */
export interface QuoteInputs {
  /** Its recent daily bars, ascending, as printed. */
  bars: readonly Bar[];
  live: LiveQuote | null;
  splits: readonly Split[];
}

const closedOf = (bar: Bar | null): Closed | null => bar && { close: bar.close, date: exchangeDate(bar.tsMs) };

function dailyQuote(bars: readonly Bar[], nowMs: number): Price | null {
  const daily = dailyPrice(bars, nowMs);
  if (!daily) return null;
  const { tsMs, close: spot, volume } = daily.bar;
  return { spot, volume, closed: closedOf(daily.before), sessionDate: exchangeDate(tsMs), eventTsMs: null };
}

function liveQuote({ spot, volume, sessionDate, eventTsMs, officialClose }: LiveQuote, bars: readonly Bar[]): Price {
  const closed = closedOf(barBefore(bars, exchangeInstant(sessionDate)));
  const said = officialClose === null ? null : { close: officialClose, date: previousTradingDay(sessionDate) };
  return { spot, volume, closed: said ?? closed, sessionDate, eventTsMs };
}

/** A note if the open looks like an unstored split; null if it does not. */
function splitNote(symbol: string, { close, date }: Closed, session: SessionDate, bars: readonly Bar[]): string | null {
  const open = bars.findLast(({ tsMs }) => exchangeDate(tsMs) === session)?.open;
  const split = open === undefined ? null : likelySplit(close, open);
  if (split === null) return null;
  const prices = `the open of ${session}, ${open}, after the close of ${date}, ${close},`;
  return `${symbol}: ${prices} looks like a split of ${split}; none is stored.`;
}

/**
 * True if a live price takes precedence over the daily bar of `session`: it is of a later session, or of the one that
 * is not over.
 */
function isNewer(shown: Shown, live: LiveQuote, session: SessionDate | null, nowMs: number): boolean {
  const today = exchangeDate(nowMs);
  if (live.eventTsMs > shownThrough(shown, nowMs) || live.sessionDate < addDays(today, -recentDays)) return false;
  return session === null || live.sessionDate > session || (live.sessionDate === session && session >= today);
}

/**
 * The quote of a symbol at `nowMs` from its daily bars and live price. The price is the current session's as it trades,
 * else the last completed session's close. The prior close is that of the bar before it, divided by the splits since: a
 * session without trades keeps the close before it. Prices older than `recentDays`, and those not shown yet, are
 * ignored. An index is not traded, so it has no volume.
 */
export function quoteAt(
  shown: Shown,
  { symbol, class: symbolClass }: Pick<SymbolEntry, 'symbol' | 'class'>,
  { bars, live, splits }: QuoteInputs,
  nowMs: number,
): Quote {
  const daily = dailyQuote(bars, nowMs);
  const price = live && isNewer(shown, live, daily?.sessionDate ?? null, nowMs) ? liveQuote(live, bars) : daily;
  if (!price) return emptyQuote(symbol);
  const { closed, ...priced } = price;
  const volume = symbolClass === 'index' ? null : roundHalfEven(price.volume);
  const quote = { ...emptyQuote(symbol), ...priced, volume };
  if (closed === null || price.sessionDate === null) return quote;
  const factor = splitFactor(splits, closed.date, price.sessionDate);
  const officialClose = closed.close / factor;
  const note = factor === 1 ? splitNote(symbol, closed, price.sessionDate, bars) : null;
  return { ...quote, officialClose, changePct: changePct(price.spot, officialClose), note };
}
