// Currency of the shown data: the market's hours, the stream, and the age of a figure.

import type { MarketClock, Quote } from '../../../../../generated/pages/operation-types.ts';
import type { LiveState } from '../data/live-link.ts';
import { clockTime, clockTimeSeconds, dateBeside, dateOf, dayAndTime } from '../format.ts';
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
  /** The latest session with data. */
  latestSession: string;
  /** The server's clock, epoch ms. */
  nowMs: number;
}

/** The badge of a closed market: the last session with data, and the time of its last price or of its close. */
function closedBadge({ market, quote, priceMs, latestSession, nowMs }: BadgeParts): LiveBadge {
  const session = quote?.sessionDate ?? latestSession;
  const isPriced = priceMs !== null && dateOf(priceMs) === session;
  const atMs = isPriced ? priceMs : session === market?.sessionDate ? market.closeMs : null;
  const day = dateBeside(session, dateOf(nowMs));
  return { kind: 'closed', text: `Market closed · ${day}${atMs === null ? '' : ` ${clockTime(atMs)}`}` };
}

/** The badge of a view. */
export function liveBadge(parts: BadgeParts): LiveBadge {
  const { view, live, market, quote, priceMs: lastMs, latestSession, nowMs } = parts;
  if (view.session !== null) return { kind: 'past', text: 'Past session' };
  const open = market === null || isMarketOpen(market, nowMs);
  // A price without a time of its own is updated every minute.
  const within = quote?.eventTsMs == null ? livePriceMs + minuteMs : livePriceMs;
  const moves = lastMs !== null && nowMs - lastMs <= within;
  if (live === 'live' && moves) return { kind: 'live', text: open ? 'Live' : 'Live, extended hours' };
  if (!open) return closedBadge(parts);
  if (live !== 'live') return { kind: live, text: streamNames[live] };
  const what = quote?.eventTsMs == null ? 'price' : 'trade';
  if (lastMs !== null) return { kind: 'quiet', text: `No ${what} since ${clockTimeSeconds(lastMs)}` };
  const session = quote?.sessionDate ?? latestSession;
  if (session < dateOf(nowMs)) return { kind: 'quiet', text: `No trade since ${dateBeside(session, dateOf(nowMs))}` };
  return { kind: 'quiet', text: quote?.spot == null ? 'No trade yet' : 'Market open' };
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
