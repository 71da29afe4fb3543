// Bars for the candle chart: labels, sessions, ranges, levels.

import type { BarColumns } from '../../../../../generated/pages/operation-types.ts';
import type { Level } from '../charts/levels.ts';
import { clockTime, dateOf, dayAndTime, dayOf, fullDate, shortDate } from '../format.ts';
import type { Timeframe } from '../timeframes.ts';

/**
 * Label below a candle: the time within a session, the day at its start; for days, with the year if it differs from
 * that of the last candle, epoch ms.
 */
export function candleLabel(atMs: number, timeframe: Timeframe, begins: ReadonlySet<number>, lastMs: number): string {
  if (timeframe === '1d') return shortDate(dateOf(atMs), dateOf(lastMs));
  return begins.has(atMs) ? dayOf(atMs) : clockTime(atMs);
}

/** The heading of a candle: its day, and its time if it has one. */
export const candleHeading = (tsMs: number, timeframe: Timeframe) =>
  timeframe === '1d' ? fullDate(dateOf(tsMs)) : dayAndTime(tsMs, null);

/** The first bars of each day: [index, day]. */
export function dayStarts(tsMs: readonly number[]): [number, string][] {
  const starts: [number, string][] = [];
  for (let i = 1; i < tsMs.length; i++) {
    if (dateOf(tsMs[i - 1]!) !== dateOf(tsMs[i]!)) starts.push([i, dayOf(tsMs[i]!)]);
  }
  return starts;
}

/** The lowest and highest price of the bars; null without any. */
export function priceRange({ low, high }: BarColumns): { low: number; high: number } | null {
  if (low.length === 0) return null;
  let [least, most] = [Infinity, -Infinity];
  for (let i = 0; i < low.length; i++) {
    least = Math.min(least, low[i]!);
    most = Math.max(most, high[i]!);
  }
  return { low: least, high: most };
}

/**
 * The ends of the price axis of candles between two prices, with a margin. The axis includes the current price, unless
 * that would flatten the candles: earlier candles may be shown.
 */
export function candleScale(low: number, high: number, last: number | null): [number, number] {
  const height = high > low ? high - low : Math.max(high * 0.001, 0.01);
  const near = last !== null && last >= low - height * 0.2 && last <= high + height * 0.2 ? last : low;
  const room = height * 0.06;
  return [Math.min(low, near) - room, Math.max(high, near) + room];
}

/** The levels except the spot, highest first; levels at the same price are merged. */
export function namedLevels(levels: readonly Level[]): Level[] {
  const byPrice = new Map<number, Level>();
  for (const level of levels) {
    if (level.name === 'Spot') continue;
    const same = byPrice.get(level.at);
    byPrice.set(
      level.at,
      same ? { ...same, name: `${same.name}, ${level.name.toLowerCase()}`, colour: 'muted' } : level,
    );
  }
  return [...byPrice.values()].sort((a, b) => b.at - a.at);
}

/** A round number at or slightly above a volume, for the end of its axis. */
export function volumeEnd(most: number): number {
  const unit = 10 ** Math.floor(Math.log10(Math.max(most, 1)));
  return unit * [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((times) => times * unit >= most)!;
}
