import { type Bar, type BarColumns, barAt } from '../domain/bar.ts';
import { oneBar } from '../domain/bar-aggregation.ts';
import { isTradingDay, sessionMinutes } from '../domain/calendar.ts';
import { addDays, exchangeDate, exchangeInstant } from '../domain/market-time.ts';
import type { Store } from '../store/engine/connection.ts';
import { lastBarStarts, readBars } from '../store/market/bar-blocks.ts';
import { recentDailyBars } from '../store/market/recent-daily-bars.ts';
import { shownBefore } from './shown-bars.ts';

/**
 * How old a last bar may be and still be the price, in calendar days: longer than any closing of the exchange, a long
 * weekend and a few missed deliveries together, short enough that a delisted ticker or a forgotten store shows no
 * price. It is counted from the server's clock, so that a store of past sessions has prices under `--clock`.
 */
export const recentDays = 10;

/** As far back as a prior close may lie behind a recent bar. */
const windowDays = 2 * recentDays;

/**
 * The current session's bars of `symbols` as of `nowMs`: made from its minutes where the stored bar knows of later ones
 * or is missing.
 */
async function currentBars(
  store: Store,
  stored: Map<string, Bar | null>,
  startMs: number,
  nowMs: number,
): Promise<Map<string, Bar | null>> {
  const symbols = [...stored.keys()];
  const endMs = exchangeInstant(addDays(exchangeDate(nowMs), 1));
  const lastMinutes = await lastBarStarts(store, symbols, '1m', startMs, endMs);
  const { open, extendedClose } = sessionMinutes;
  const begun = nowMs >= exchangeInstant(exchangeDate(nowMs), store.endedBarsOnly ? extendedClose : open);
  const toMs = shownBefore(store, '1m', nowMs);
  const current = new Map<string, Bar | null>();
  const fromMinutes: string[] = [];
  for (const [symbol, bar] of stored) {
    const lastMinute = lastMinutes.get(symbol);
    // Without minutes nobody can say what the bar was then, only that there was none before the session began, and in
    // a replay that the stored one is that of the whole day.
    if (lastMinute === undefined) current.set(symbol, begun ? bar : null);
    else if (lastMinute < toMs && bar) current.set(symbol, bar);
    else fromMinutes.push(symbol);
  }
  if (fromMinutes.length === 0) return current;
  const minutes = await readBars(store, fromMinutes, '1m', { fromMs: startMs, toMs, limit: Infinity });
  for (const [symbol, { bars }] of minutes) current.set(symbol, oneBar(bars, startMs));
  return current;
}

/**
 * The last 20 calendar days' daily bars of several symbols, ascending, as they stood at `nowMs`: a completed session's
 * as stored, the current one's as far as it has come. A server whose clock runs in a past session has its whole bar in
 * the store already; it is then made from the minutes up to now, so that nothing of the future shows. At most five
 * statements however many symbols.
 */
export async function dailyBarsAt(
  store: Store,
  symbols: readonly string[],
  nowMs: number,
): Promise<Map<string, Bar[]>> {
  const today = exchangeDate(nowMs);
  const startMs = exchangeInstant(today);
  const daily = await recentDailyBars(store, symbols, today, windowDays);
  const bars = new Map([...daily].map(([symbol, run]) => [symbol, rows(run)]));
  if (!isTradingDay(today)) return bars;
  const stored = new Map([...bars].map(([symbol, run]) => [symbol, run.at(-1)?.tsMs === startMs ? run.pop()! : null]));
  for (const [symbol, bar] of await currentBars(store, stored, startMs, nowMs)) if (bar) bars.get(symbol)!.push(bar);
  return bars;
}

function rows(columns: BarColumns): Bar[] {
  return Array.from(columns.tsMs, (_, index) => barAt(columns, index));
}

/** A symbol's recent price by its daily bars. */
export interface DailyPrice {
  /** The latest bar, at most ten days old. */
  bar: Bar;
  /** The bar of the session before; null if there is none within ten days before. */
  before: Bar | null;
}

/** The last bar of `bars` that starts before `beforeMs` and at most ten days earlier. */
export function barBefore(bars: readonly Bar[], beforeMs: number): Bar | null {
  const earliestMs = exchangeInstant(addDays(exchangeDate(beforeMs), -recentDays));
  const bar = bars.findLast((candidate) => candidate.tsMs < beforeMs);
  return bar && bar.tsMs >= earliestMs ? bar : null;
}

/** The price in `bars` at `nowMs`; null when the latest bar is not recent. */
export function dailyPrice(bars: readonly Bar[], nowMs: number): DailyPrice | null {
  const bar = barBefore(bars, nowMs + 1);
  return bar && { bar, before: barBefore(bars, bar.tsMs) };
}
