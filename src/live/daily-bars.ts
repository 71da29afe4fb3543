import { tradeDate, tradeSpanAt } from '../core/domain/calendar.ts';
import { type Bar, type BarColumns, barAt } from '../core/domain/market/bar.ts';
import { addDays, epochDay, exchangeDate, exchangeInstant } from '../core/domain/market-time.ts';
import { recentDailyBars } from '../store/market/recent-daily-bars.ts';
import type { Store } from '../store/rows/connection.ts';
import { dayOfParts, daysSoFar, dayWithoutMinutesFrom, shownWhole } from './served-bars.ts';

/**
 * Age up to which a last bar counts as the price, in calendar days: longer than any closing of the exchange, with a
 * long weekend and a few missed deliveries; short enough that a delisted ticker or an outdated store shows no price. It
 * is measured by the server's clock, so that a store of past sessions has prices under `--clock`.
 */
export const recentDays = 10;

/** Maximum age of the prior close of a recent bar. */
const windowDays = 2 * recentDays;

/**
 * The current session's bars of `symbols` as of `nowMs`: built from the shown minutes if the stored bar includes later
 * ones or is missing.
 */
async function currentBars(
  store: Store,
  stored: Map<string, Bar | null>,
  nowMs: number,
): Promise<Map<string, Bar | null>> {
  const symbols = [...stored.keys()];
  const span = tradeSpanAt(nowMs);
  const shown = await shownWhole(store, symbols, span, nowMs);
  const isShownWithoutMinutes = nowMs >= dayWithoutMinutesFrom(store, span.date);
  const current = new Map<string, Bar | null>();
  const fromMinutes: string[] = [];
  for (const [symbol, bar] of stored) {
    const isShown = shown.get(symbol);
    if (isShown === undefined) current.set(symbol, isShownWithoutMinutes ? bar : null);
    else if (isShown && bar) current.set(symbol, bar);
    else fromMinutes.push(symbol);
  }
  if (fromMinutes.length === 0) return current;
  const days = await daysSoFar(store, fromMinutes, span.fromMs, nowMs);
  for (const [symbol, parts] of days) current.set(symbol, dayOfParts(store, parts, span.date));
  return current;
}

/**
 * The last 20 calendar days' daily bars of several symbols, ascending, as of `nowMs`: a completed session's as stored,
 * the current one's up to now. A server whose clock is in a past session has its whole bar stored already; the bar is
 * then built from the minutes up to now, and the seconds of the minute in progress, so that nothing of the future is
 * shown. At most seven statements for any number of symbols.
 */
export async function dailyBarsAt(
  store: Store,
  symbols: readonly string[],
  nowMs: number,
): Promise<Map<string, Bar[]>> {
  const session = tradeDate(nowMs);
  const startMs = exchangeInstant(session);
  const days = windowDays + epochDay(session) - epochDay(exchangeDate(nowMs));
  const daily = await recentDailyBars(store, symbols, session, days);
  const bars = new Map([...daily].map(([symbol, run]) => [symbol, rows(run)]));
  const stored = new Map([...bars].map(([symbol, run]) => [symbol, run.at(-1)?.tsMs === startMs ? run.pop()! : null]));
  for (const [symbol, bar] of await currentBars(store, stored, nowMs)) if (bar) bars.get(symbol)!.push(bar);
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

/** The last bar of `bars` that starts before `beforeMs`, and at most ten days before `nowMs`. */
function lastBar(bars: readonly Bar[], beforeMs: number, nowMs: number): Bar | null {
  const earliestMs = exchangeInstant(addDays(exchangeDate(nowMs), -recentDays));
  const bar = bars.findLast((candidate) => candidate.tsMs < beforeMs);
  return bar && bar.tsMs >= earliestMs ? bar : null;
}

/** The last bar of `bars` that starts before `beforeMs` and at most ten days earlier. */
export function barBefore(bars: readonly Bar[], beforeMs: number): Bar | null {
  return lastBar(bars, beforeMs, beforeMs);
}

/** The price in `bars` at `nowMs`; null if the latest bar is not recent. */
export function dailyPrice(bars: readonly Bar[], nowMs: number): DailyPrice | null {
  const bar = lastBar(bars, tradeSpanAt(nowMs).toMs, nowMs);
  return bar && { bar, before: barBefore(bars, bar.tsMs) };
}
