import { changePct } from '../core/analytics/screener/quote.ts';
import { previousTradingDay, tradeDate } from '../core/domain/calendar.ts';
import type { Bar } from '../core/domain/market/bar.ts';
import { emptyQuote, isSameQuote, type Quote } from '../core/domain/market/quote.ts';
import { likelySplit, type Split, splitFactor } from '../core/domain/market/splits.ts';
import type { SymbolEntry } from '../core/domain/market/symbol.ts';
import { addDays, exchangeDate, exchangeInstant, type SessionDate } from '../core/domain/market-time.ts';
import { roundHalfEven } from '../core/domain/units.ts';
import { type LiveQuote, readLiveQuotes } from '../store/market/live-quotes.ts';
import { readSplits } from '../store/market/splits.ts';
import { symbolRegistry } from '../store/market/symbols.ts';
import type { Store } from '../store/rows/connection.ts';
import { type Change, concerns } from '../store/versions/subjects.ts';
import { barBefore, dailyBarsAt, dailyPrice, recentDays } from './daily-bars.ts';
import { priceInstants } from './replay-instants.ts';
import { type Shown, shownThrough } from './served-bars.ts';
import type { LiveEvent } from './source.ts';
import type { TopicKind } from './topics.ts';

/** State of a symbol's quote. */
export interface QuoteState {
  event: LiveEvent<Quote>;
  /** The recent daily bars as of `date`: during a session only the live price moves. */
  bars: readonly Bar[];
  date: SessionDate;
  live: LiveQuote | null;
}

/**
 * True if the cached daily bars are still valid: the changes were named, and the price is a live one of the day they
 * were read.
 */
function barsServe(state: QuoteState | null, date: SessionDate, change: Change): state is QuoteState {
  const isNamed = Array.isArray(change.market);
  return state !== null && isNamed && state.date === date && state.live?.sessionDate === date;
}

/** Live quotes, one topic per symbol. */
export function quoteTopics(store: Store): TopicKind<QuoteState, Quote> {
  return {
    dataset: 'bars',
    queued: 'latest',
    concerns: (symbol, change) => concerns(change, 'market', symbol) || concerns(change, 'corporate', symbol),
    async read(topics, nowMs, change) {
      const date = tradeDate(nowMs);
      const symbols = [...topics.keys()];
      const without = symbols.filter((symbol) => !barsServe(topics.get(symbol)!, date, change));
      const [registry, lives, splits, daily] = await Promise.all([
        symbolRegistry(store),
        readLiveQuotes(store, symbols),
        readSplits(store, symbols),
        without.length === 0 ? new Map<string, Bar[]>() : dailyBarsAt(store, without, nowMs),
      ]);
      return new Map(
        symbols.map((symbol) => {
          const before = topics.get(symbol)!;
          const bars = daily.get(symbol) ?? before!.bars;
          const live = lives.get(symbol) ?? null;
          const known = { bars, live, splits: splits.get(symbol) ?? [] };
          const quote = quoteAt(store, registry.get(symbol) ?? { symbol, class: 'equity' }, known, nowMs);
          const changed = before === null || !isSameQuote(before.event.value, quote);
          const event = changed ? { value: quote, cursor: '', slot: symbol } : before.event;
          return [symbol, { state: { event, bars, date, live }, events: changed ? [event] : [] }];
        }),
      );
    },
    instants: (symbols, fromMs, toMs) => priceInstants(store, symbols, '1d', fromMs, toMs),
    first: ({ event }) => [event],
    cursor: () => '',
  };
}

type Price = Pick<Quote, 'spot' | 'sessionDate' | 'eventTsMs'> & { volume: number; closed: Closed | null };

/** The official close of a session before, as printed. */
interface Closed {
  close: number;
  date: SessionDate;
}

/** Inputs of a symbol's quote. */
interface QuoteInputs {
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
