import { tradeSpan } from '../domain/calendar.ts';
import { type BarColumns, inWholeShares, type Timeframe, timeframeMs } from '../domain/market/bar.ts';
import { oneBar } from '../domain/market/bar-aggregation.ts';
import { exchangeDate } from '../domain/market-time.ts';
import { type Batching, batched } from '../runtime/batched.ts';
import { lastBarStarts, readBars } from '../store/market/bar-blocks.ts';
import type { Store } from '../store/rows/connection.ts';
import {
  dayOfParts,
  dayWithoutMinutesFrom,
  isMadeOfParts,
  minutesShownBefore,
  partsSoFar,
  shownBefore,
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

/** Time from which the bar that starts at `start` is shown without stored minutes, epoch ms. */
function shownWithoutMinutes(store: Store, timeframe: Timeframe, start: number): number {
  if (!store.endedBarsOnly) return start;
  return timeframe === '1d' ? dayWithoutMinutesFrom(store, exchangeDate(start)) : Number.POSITIVE_INFINITY;
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
  const lastMinute = await lastBarStart(context, symbol, '1m', fromMs, toMs);
  const isShown =
    lastMinute === null
      ? nowMs >= shownWithoutMinutes(store, timeframe, start)
      : lastMinute < minutesShownBefore(store, nowMs);
  if (isShown) return bars;
  const parts = await batched(context, `parts of bars ${fromMs} ${nowMs}`, symbol, (symbols) =>
    partsSoFar(store, symbols, fromMs, nowMs),
  );
  const isDay = timeframe === '1d';
  return withLast(bars, isDay ? dayOfParts(store, parts!, exchangeDate(start)) : oneBar(parts!, start));
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
