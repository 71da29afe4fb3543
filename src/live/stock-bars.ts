import { oneBar } from '../analytics/bars/bars.ts';
import { type BarColumns, type Timeframe, timeframeMs, toBarColumns } from '../domain/bar.ts';
import { addDays, exchangeDate, exchangeInstant } from '../domain/market-time.ts';
import { type Batching, batched } from '../runtime/batched.ts';
import type { Store } from '../store/engine/connection.ts';
import { concatBars, lastBarStarts, readBars, sliceBars } from '../store/market/bar-blocks.ts';

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
export async function storedBars(
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
 * The bars as they stood now. Where a past session is replayed the store knows the rest of the bar in progress already; it
 * is then made from the minutes so far, so that nothing of the future shows.
 */
export async function asOfNow(
  context: BarReading,
  symbol: string,
  timeframe: Timeframe,
  bars: BarColumns,
): Promise<BarColumns> {
  const start = bars.tsMs.at(-1);
  if (start === undefined || timeframe === '1s' || timeframe === '1m') return bars;
  const { nowMs } = context;
  const end = barEnd(timeframe, start);
  if (end <= nowMs) return bars;
  const lastMinute = await lastBarStart(context, symbol, '1m', start, end);
  if (lastMinute === null || lastMinute <= nowMs) return bars;
  const minutes = await storedBars(context, symbol, '1m', { fromMs: start, toMs: nowMs + 1, limit: Infinity });
  const soFar = oneBar(minutes.bars, start);
  const before = sliceBars(bars, 0, bars.tsMs.length - 1);
  return soFar === null ? before : concatBars([before, toBarColumns([soFar])]);
}
