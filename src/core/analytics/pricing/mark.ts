import { hourMs } from '../../../platform/runtime/clock.ts';
import { sessionOf } from '../../domain/calendar.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import { methodologySettings } from '../methodology.ts';

/** Sources of a mark (spec 2.9 `mark_source`). */
export const markSources = ['mid', 'last', 'close'] as const;
export type MarkSource = (typeof markSources)[number];

/** Prices of a contract at an instant; null = unknown. Dollars per share. */
export interface MarkInputs {
  nowMs: number;
  quote: { bid: number | null; ask: number | null; tsMs: number } | null;
  /** `eligible`: the print's conditions allow it to set a last price. */
  trade: { price: number; tsMs: number; eligible: boolean } | null;
  /** The last price of the session before. */
  previousClose: number | null;
}

/** The price used by a solve, dollars per share, and its source. */
export interface Mark {
  price: number;
  source: MarkSource;
}

/**
 * The midpoint of a two-sided quote that is not crossed; a bid of zero counts only with an ask of at most 0.05. Else
 * null.
 */
export function quoteMid(bid: number | null, ask: number | null): number | null {
  if (bid === null || ask === null || !(bid >= 0) || !(ask > 0) || bid > ask) return null;
  if (bid === 0 && ask > methodologySettings.maximumAskOfZeroBid) return null;
  return 0.5 * (bid + ask);
}

// New York's offset from UTC is whole hours: within one hour the session is the same.
const lastSession = { hour: Number.NaN, session: '' };
function sessionAt(tsMs: number): SessionDate {
  const hour = Math.floor(tsMs / hourMs);
  if (hour !== lastSession.hour) Object.assign(lastSession, { hour, session: sessionOf(tsMs) });
  return lastSession.session;
}

/** The mid of a fresh quote, else a recent trade of the same session, else the previous close; null: no sample. */
export function markOf({ nowMs, quote, trade, previousClose }: MarkInputs): Mark | null {
  const { maximumQuoteAgeMs, maximumTradeAgeMs } = methodologySettings;
  if (quote !== null && nowMs - quote.tsMs <= maximumQuoteAgeMs) {
    const mid = quoteMid(quote.bid, quote.ask);
    if (mid !== null) return { price: mid, source: 'mid' };
  }
  if (trade?.eligible && nowMs - trade.tsMs <= maximumTradeAgeMs && sessionAt(trade.tsMs) === sessionAt(nowMs)) {
    return { price: trade.price, source: 'last' };
  }
  return previousClose === null ? null : { price: previousClose, source: 'close' };
}
