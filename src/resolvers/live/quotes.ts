import { requireSymbol, symbolAccess } from '../../access/entitlement/entitlement.ts';
import type { Bar } from '../../domain/bar.ts';
import { exchangeDate, type SessionDate } from '../../domain/market-time.ts';
import type { Store } from '../../store/engine/connection.ts';
import { type Change, concerns } from '../../store/engine/subjects.ts';
import { type LiveQuote, readLiveQuotes } from '../../store/market/live-quotes.ts';
import { findSymbol, type RequestContext, requireSource } from '../context.ts';
import { dailyBarsAt } from '../market/daily-bars.ts';
import { checkQuoteSymbols, emptyQuote, type Quote, quoteAt } from '../market/quotes.ts';
import type { LiveEvent, LiveSource } from './source.ts';
import type { TopicKind } from './topics.ts';

/** How the quote of a symbol stands. */
export interface QuoteState {
  event: LiveEvent<Quote>;
  /** The recent daily bars as of `date`: while a session trades only the live price moves. */
  bars: readonly Bar[];
  date: SessionDate;
  live: LiveQuote | null;
}

function isSame(a: Quote, b: Quote): boolean {
  return (
    a.spot === b.spot &&
    a.volume === b.volume &&
    a.eventTsMs === b.eventTsMs &&
    a.officialClose === b.officialClose &&
    a.sessionDate === b.sessionDate
  );
}

/** Whether the daily bars in hand still serve: what changed was named, and the price is a live one of the day they were read. */
function barsServe(state: QuoteState | null, date: SessionDate, change: Change): state is QuoteState {
  const isNamed = Array.isArray(change.market);
  return state !== null && isNamed && state.date === date && state.live?.sessionDate === date;
}

/** Quotes, a topic a symbol. */
export function quoteTopics(store: Store): TopicKind<QuoteState, Quote> {
  return {
    dataset: 'bars',
    queued: 'latest',
    concerns: (symbol, change) => concerns(change, 'market', symbol),
    async read(topics, nowMs, change) {
      const date = exchangeDate(nowMs);
      const symbols = [...topics.keys()];
      const without = symbols.filter((symbol) => !barsServe(topics.get(symbol)!, date, change));
      const [lives, daily] = await Promise.all([
        readLiveQuotes(store, symbols),
        without.length === 0 ? new Map<string, Bar[]>() : dailyBarsAt(store, without, nowMs),
      ]);
      return new Map(
        symbols.map((symbol) => {
          const before = topics.get(symbol)!;
          const bars = daily.get(symbol) ?? before!.bars;
          const live = lives.get(symbol) ?? null;
          const quote = quoteAt(symbol, bars, live, nowMs);
          const changed = before === null || !isSame(before.event.value, quote);
          const event = changed ? { value: quote, cursor: '', slot: symbol } : before.event;
          return [symbol, { state: { event, bars, date, live }, events: changed ? [event] : [] }];
        }),
      );
    },
    first: ({ event }) => [event],
    cursor: () => '',
  };
}

/** The symbols that the caller may follow; throws the 403 of the first when there is none. Nothing is withheld of a ticker nobody knows. */
async function readableSymbols(context: RequestContext, symbols: readonly string[]): Promise<Set<string>> {
  const readable = new Set<string>();
  let denied: (() => void) | null = null;
  for (const symbol of symbols) {
    const entry = await findSymbol(context, symbol);
    if (entry === null || symbolAccess(context.caller, entry).allowed) readable.add(symbol);
    else denied ??= () => requireSymbol(context.caller, entry);
  }
  if (readable.size === 0) denied?.();
  return readable;
}

/**
 * The quotes of symbols: each as it stands, then whenever it changes. As in a page of quotes, a symbol that may not be read is an empty row;
 * 403 when that is all of them, and as soon as one may be read no longer.
 */
export async function followQuotes(context: RequestContext, symbols: readonly string[]): Promise<LiveSource<Quote>> {
  checkQuoteSymbols(symbols);
  requireSource(context, 'bars');
  const readable = await readableSymbols(context, symbols);
  const hidden = symbols.filter((symbol) => !readable.has(symbol));
  return context.live.quotes.follow({
    keys: [...readable],
    resume: null,
    early: hidden.map((symbol) => ({ value: emptyQuote(symbol), cursor: '', slot: symbol })),
    async check(caller) {
      for (const symbol of readable) {
        const entry = await findSymbol(context, symbol);
        if (entry) requireSymbol(caller, entry);
      }
    },
  });
}
