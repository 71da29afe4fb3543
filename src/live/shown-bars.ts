import { type BarColumns, type Timeframe, timeframeMs, toBarColumns } from '../domain/bar.ts';
import { oneBar } from '../domain/bar-aggregation.ts';
import type { Store } from '../store/engine/connection.ts';
import { concatBars, firstAtOrAfter, sliceBars } from '../store/market/bar-blocks.ts';

/** The store, as far as it says what is shown of the bars in progress. */
export type Shown = Pick<Store, 'endedBarsOnly'>;

/** True for bars that can be made again from minutes. */
export const isMadeOfMinutes = (timeframe: Timeframe) => timeframe !== '1s' && timeframe !== '1m';

/**
 * Bars that start before this, epoch ms, are shown at `nowMs`. A live tape has stored of the bar in progress what has
 * traded so far, and it is shown. A replayed session has stored it whole: it is shown once it has ended
 * (`endedBarsOnly`). Longer bars in progress are shown from their start and made of the minutes shown
 * (`madeOfMinutes`).
 */
export function shownBefore({ endedBarsOnly }: Shown, timeframe: Timeframe, nowMs: number): number {
  return endedBarsOnly && !isMadeOfMinutes(timeframe) ? nowMs + 1 - timeframeMs[timeframe] : nowMs + 1;
}

/**
 * `bars` with the last one made again of those of `minutes` from its start on that are shown at `nowMs`; without it if
 * there are none.
 */
export function madeOfMinutes(store: Shown, bars: BarColumns, minutes: BarColumns, nowMs: number): BarColumns {
  const before = sliceBars(bars, 0, bars.tsMs.length - 1);
  const startMs = bars.tsMs.at(-1)!;
  const [from, to] = [startMs, shownBefore(store, '1m', nowMs)].map((ms) => firstAtOrAfter(minutes, ms));
  const soFar = oneBar(sliceBars(minutes, from!, Math.max(from!, to!)), startMs);
  return soFar === null ? before : concatBars([before, toBarColumns([soFar])]);
}
