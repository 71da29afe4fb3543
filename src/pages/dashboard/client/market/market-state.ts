// Currency of the shown data: the market's hours, the stream, and the age of a figure.

import type { MarketClock, Quote } from '../../../../../generated/pages/operation-types.ts';
import type { LiveState } from '../data/live-link.ts';
import { clockTime, clockTimeSeconds, date, dateOf, dayAndTime, fullDate } from '../format.ts';
import type { Timeframe } from '../timeframes.ts';
import type { View } from '../view-address.ts';

// A price counts as current for a minute, any other figure for a minute and a half.
const livePriceMs = 60_000;
const ofNowMs = 90_000;
const minuteMs = 60_000;

/** True if the regular session is in progress at `nowMs`. Hours loaded before the next open contain it. */
export const isMarketOpen = ({ openMs, closeMs, nextOpenMs }: MarketClock, nowMs: number) =>
  (nowMs >= openMs && nowMs < closeMs) || nowMs >= nextOpenMs;

/** The badge: `live` only if prices move. */
export interface LiveBadge {
  kind: 'live' | 'quiet' | 'closed' | 'past' | 'connecting' | 'reconnecting' | 'off' | 'refused';
  text: string;
}

const streamNames: Record<Exclude<LiveState, 'live'>, string> = {
  off: 'Not live',
  connecting: 'Connecting',
  reconnecting: 'Connection lost, reconnecting',
  refused: 'Not live',
};

type QuoteTime = Pick<Quote, 'spot' | 'eventTsMs' | 'sessionDate'>;

const candleMs: Readonly<Record<Timeframe, number | null>> = {
  '1m': minuteMs,
  '5m': 5 * minuteMs,
  '1h': 60 * minuteMs,
  '1d': null,
};

interface PriceParts {
  quote: QuoteTime | undefined;
  market: MarketClock | null;
  /** Starts of the candles that are shown, epoch ms, and their length. */
  candles: readonly number[];
  timeframe: Timeframe;
  nowMs: number;
}

/**
 * The time of a price, epoch ms: of its trade, or, for an index in session, of the end of its candle; null = unknown,
 * or it is the close of its session.
 */
export function priceTime({ quote, market, candles, timeframe, nowMs }: PriceParts): number | null {
  if (quote === undefined || quote.eventTsMs !== null) return quote?.eventTsMs ?? null;
  const last = candles.at(-1);
  const lasts = candleMs[timeframe];
  const isOpen = market !== null && isMarketOpen(market, nowMs) && quote.sessionDate === dateOf(nowMs);
  if (!isOpen || last === undefined || lasts === null || dateOf(last) !== quote.sessionDate) return null;
  return Math.min(nowMs, last + lasts);
}

interface BadgeParts {
  view: View;
  live: LiveState;
  market: MarketClock | null;
  quote: QuoteTime | undefined;
  /** The time of the price, epoch ms; null = unknown. */
  priceMs: number | null;
  /** The server's clock, epoch ms. */
  nowMs: number;
}

/** The badge of a view. */
export function liveBadge({ view, live, market, quote, priceMs: lastMs, nowMs }: BadgeParts): LiveBadge {
  if (view.session !== null) return { kind: 'past', text: 'Past session' };
  const open = market === null || isMarketOpen(market, nowMs);
  // A price without a time of its own is updated every minute.
  const within = quote?.eventTsMs == null ? livePriceMs + minuteMs : livePriceMs;
  const moves = lastMs !== null && nowMs - lastMs <= within;
  if (live === 'live' && moves) return { kind: 'live', text: open ? 'Live' : 'Live, extended hours' };
  if (!open) {
    const session = quote?.sessionDate ?? market!.sessionDate;
    const time = clockTime(lastMs !== null && dateOf(lastMs) === session ? lastMs : market!.closeMs);
    const day = session.slice(0, 4) === dateOf(nowMs).slice(0, 4) ? date(session) : fullDate(session);
    return { kind: 'closed', text: `Market closed · ${day} ${time}` };
  }
  if (live !== 'live') return { kind: live, text: streamNames[live] };
  const what = quote?.eventTsMs == null ? 'price' : 'trade';
  if (lastMs !== null) return { kind: 'quiet', text: `No ${what} since ${clockTimeSeconds(lastMs)}` };
  if (quote?.spot == null || quote.sessionDate === null) return { kind: 'quiet', text: 'No trade yet' };
  const isOfNow = quote.sessionDate === dateOf(nowMs);
  return { kind: 'quiet', text: isOfNow ? 'Market open' : `No trade since ${fullDate(quote.sessionDate)}` };
}

/**
 * Age of a figure, in words: `5 min ago`, `3 h ago`, later its day and time; null = current, or its time is unknown.
 */
export function ageText(atMs: number | null | undefined, nowMs: number): string | null {
  if (atMs == null || nowMs - atMs < ofNowMs) return null;
  const minutes = Math.floor((nowMs - atMs) / minuteMs);
  if (minutes < 60) return `${minutes} min ago`;
  return dateOf(atMs) === dateOf(nowMs) ? `${Math.floor(minutes / 60)} h ago` : dayAndTime(atMs, dateOf(nowMs));
}
