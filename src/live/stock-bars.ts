import { tradeSpan } from '../core/domain/calendar.ts';
import { type BarColumns, inWholeShares, type Timeframe, timeframeMs } from '../core/domain/market/bar.ts';
import { oneBar } from '../core/domain/market/bar-aggregation.ts';
import { exchangeDate } from '../core/domain/market-time.ts';
import { type Batching, batched } from '../platform/runtime/batched.ts';
import { lastBarStarts, readBars } from '../store/market/bar-blocks.ts';
import type { Store } from '../store/rows/connection.ts';
import {
  dayOfParts,
  daysSoFar,
  dayWithoutMinutesFrom,
  isMadeOfParts,
  minutesShownBefore,
  partsSoFar,
  shownBefore,
  shownWhole,
  withLast,
} from './served-bars.ts';

/** Context of reading bars: concurrent requests for several symbols are batched. */
export interface BarReading extends Batching {
  store: Store;
  nowMs: number;
}

/** The start of a symbol's last bar in a range; null if there is none. */
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

/** The instants of the bar that starts at `tsMs`, excluding `toMs`: those of its session for a daily one. */
export function barSpan(timeframe: Timeframe, tsMs: number): { fromMs: number; toMs: number } {
  return timeframe === '1d' ? tradeSpan(exchangeDate(tsMs)) : { fromMs: tsMs, toMs: tsMs + timeframeMs[timeframe] };
}

/** `asOfNow` of day bars, the last of which is of the session that begins at `fromMs`. */
async function dayAsOfNow(
  context: BarReading,
  symbol: string,
  bars: BarColumns,
  { start, fromMs, toMs }: { start: number; fromMs: number; toMs: number },
): Promise<BarColumns> {
  const { store, nowMs } = context;
  const date = exchangeDate(start);
  const isShown = await batched(context, `day shown whole ${fromMs} ${nowMs}`, symbol, (symbols) =>
    shownWhole(store, symbols, { fromMs, toMs }, nowMs),
  );
  if (isShown ?? nowMs >= (store.endedBarsOnly ? dayWithoutMinutesFrom(store, date) : start)) return bars;
  const day = await batched(context, `day so far ${fromMs} ${nowMs}`, symbol, (symbols) =>
    daysSoFar(store, symbols, fromMs, nowMs),
  );
  return withLast(bars, dayOfParts(store, day!, date));
}

/**
 * The last of `bars` as of now. If a past session is replayed, the store already has the rest of the bar in progress;
 * the bar is then built from its shown parts, so that nothing of the future is shown.
 */
async function asOfNow(
  context: BarReading,
  symbol: string,
  timeframe: Timeframe,
  bars: BarColumns,
): Promise<BarColumns> {
  const start = bars.tsMs.at(-1);
  const { store, nowMs } = context;
  if (start === undefined || !isMadeOfParts(store, timeframe)) return bars;
  const { fromMs, toMs } = barSpan(timeframe, start);
  if (toMs <= nowMs) return bars;
  if (timeframe === '1d') return dayAsOfNow(context, symbol, bars, { start, fromMs, toMs });
  const lastMinute = await lastBarStart(context, symbol, '1m', fromMs, toMs);
  if (lastMinute === null ? !store.endedBarsOnly : lastMinute < minutesShownBefore(store, nowMs)) return bars;
  const parts = await batched(context, `parts of bars ${fromMs} ${nowMs}`, symbol, (symbols) =>
    partsSoFar(store, symbols, fromMs, nowMs),
  );
  return withLast(bars, oneBar(parts!, start));
}

/** The served bars of a symbol in a range as of now, ascending, at most `limit`. None is later than now. */
export async function barsAsOfNow(
  context: BarReading,
  symbol: string,
  timeframe: Timeframe,
  range: { fromMs: number; toMs: number; limit: number },
): Promise<{ bars: BarColumns; more: boolean }> {
  const toMs = Math.min(range.toMs, shownBefore(context.store, timeframe, context.nowMs));
  const stored = await storedBars(context, symbol, timeframe, { ...range, toMs });
  return { ...stored, bars: inWholeShares(await asOfNow(context, symbol, timeframe, stored.bars)) };
}
