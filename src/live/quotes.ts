import { tradeDate } from '../core/domain/calendar.ts';
import type { Bar } from '../core/domain/market/bar.ts';
import { isSameQuote, type Quote } from '../core/domain/market/quote.ts';
import type { SessionDate } from '../core/domain/market-time.ts';
import { type LiveQuote, readLiveQuotes } from '../store/market/live-quotes.ts';
import { readSplits } from '../store/market/splits.ts';
import { symbolRegistry } from '../store/market/symbols.ts';
import type { Store } from '../store/rows/connection.ts';
import { type Change, concerns } from '../store/versions/subjects.ts';
import { dailyBarsAt } from './daily-bars.ts';
import { quoteAt } from './quote-as-of.ts';
import { priceInstants } from './replay-instants.ts';
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
