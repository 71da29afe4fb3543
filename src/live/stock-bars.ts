import { type BarColumns, type Timeframe, timeframeMs } from '../domain/bar.ts';
import { sessionMinutes } from '../domain/calendar.ts';
import { addDays, exchangeDate, exchangeInstant } from '../domain/market-time.ts';
import { type Batching, batched } from '../runtime/batched.ts';
import type { Store } from '../store/engine/connection.ts';
import { lastBarStarts, readBars } from '../store/market/bar-blocks.ts';
import { isMadeOfMinutes, madeOfMinutes, shownBefore } from './shown-bars.ts';

/** What bars are read with: those of several symbols that are asked for together are read together. */
export interface BarReading extends Batching {
  store: Store;
  nowMs: number;
}

/** The start of a symbol's last bar in a range; null when it holds none. */
export function lastBarStart(
  context: BarReading,
  symbol: string,
  timeframe: Timeframe,
  fromMs: number,
  toMs: number,
): Promise<number | null> {
  return batched(context, `last bar ${timeframe} ${fromMs} ${toMs}`, symbol, (symbols) =>
    lastBarStarts(context.store, symbols, timeframe, fromMs, toMs),
  );
}

/** The stored bars of a symbol in a range, ascending, at most `limit`. */
async function storedBars(
  context: BarReading,
  symbol: string,
  timeframe: Timeframe,
  { fromMs, toMs, limit }: { fromMs: number; toMs: number; limit: number },
): Promise<{ bars: BarColumns; more: boolean }> {
  const found = await batched(context, `bars ${timeframe} ${fromMs} ${toMs} ${limit}`, symbol, (symbols) =>
    readBars(context.store, symbols, timeframe, { fromMs, toMs, limit }),
  );
  return found!;
}

/** The end of the bar that starts at `tsMs`: the next midnight of New York for a daily one. */
function barEnd(timeframe: Timeframe, tsMs: number): number {
  return timeframe === '1d' ? exchangeInstant(addDays(exchangeDate(tsMs), 1)) : tsMs + timeframeMs[timeframe];
}

/**
 * Whether a bar in progress without stored minutes is shown: in the live view, and a day bar once its trading is over.
 */
function isShownWhole({ store, nowMs }: BarReading, timeframe: Timeframe, tsMs: number): boolean {
  const isOver = timeframe === '1d' && nowMs >= exchangeInstant(exchangeDate(tsMs), sessionMinutes.extendedClose);
  return isOver || !store.endedBarsOnly;
}

/**
 * The last of `bars` as it stood now. Where a past session is replayed the store knows the rest of the bar in progress
 * already; it is then made from the minutes so far, so that nothing of the future shows.
 */
async function asOfNow(
  context: BarReading,
  symbol: string,
  timeframe: Timeframe,
  bars: BarColumns,
): Promise<BarColumns> {
  const start = bars.tsMs.at(-1);
  if (start === undefined || !isMadeOfMinutes(timeframe)) return bars;
  const { store, nowMs } = context;
  const end = barEnd(timeframe, start);
  if (end <= nowMs) return bars;
  const lastMinute = await lastBarStart(context, symbol, '1m', start, end);
  const toMs = shownBefore(store, '1m', nowMs);
  if (lastMinute === null ? isShownWhole(context, timeframe, start) : lastMinute < toMs) return bars;
  const minutes = await storedBars(context, symbol, '1m', { fromMs: start, toMs, limit: Infinity });
  return madeOfMinutes(store, bars, minutes.bars, nowMs);
}

/** The bars of a symbol in a range as they stood now, ascending, at most `limit`. None is later than now. */
export async function barsAsOfNow(
  context: BarReading,
  symbol: string,
  timeframe: Timeframe,
  range: { fromMs: number; toMs: number; limit: number },
): Promise<{ bars: BarColumns; more: boolean }> {
  const toMs = Math.min(range.toMs, shownBefore(context.store, timeframe, context.nowMs));
  const stored = await storedBars(context, symbol, timeframe, { ...range, toMs });
  return { ...stored, bars: await asOfNow(context, symbol, timeframe, stored.bars) };
}
