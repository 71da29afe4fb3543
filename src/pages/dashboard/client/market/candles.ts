// Bars for the candle chart: labels, sessions, ranges, levels.

import type { BarColumns } from '../../../../../generated/pages/operation-types.ts';
import type { Level } from '../charts/levels.ts';
import { clockTime, dateOf, dayAndTime, dayOf, fullDate } from '../format.ts';
import type { Timeframe } from '../timeframes.ts';

/** The heading of a candle: its day, and its time if it has one. */
export const candleHeading = (tsMs: number, timeframe: Timeframe) =>
  timeframe === '1d' ? fullDate(dateOf(tsMs)) : dayAndTime(tsMs, null);

/** Indexes of the first bars of each period but the first; `periodOf` = the period of a bar. */
function starts(tsMs: readonly number[], periodOf: (atMs: number) => string | number): number[] {
  const found: number[] = [];
  for (let i = 1; i < tsMs.length; i++) if (periodOf(tsMs[i - 1]!) !== periodOf(tsMs[i]!)) found.push(i);
  return found;
}

/** Indexes of the first bars of each day but the first. */
export const dayStarts = (tsMs: readonly number[]): number[] => starts(tsMs, dateOf);

const minuteMs = 60_000;
const weekMs = 7 * 24 * 60 * minuteMs;
// 1970-01-05 was a Monday.
const weekOf = (atMs: number) => Math.floor((atMs - 4 * 24 * 60 * minuteMs) / weekMs);

/** Distances of round times, minutes. */
const roundSteps = [1, 2, 5, 10, 15, 30, 60, 120, 180, 240, 360];

/** Indexes of the bars that begin at a multiple of `step` minutes in New York. */
function roundTimes(tsMs: readonly number[], step: number): number[] {
  const isRound = (atMs: number) => {
    // Its clock differs from UTC by whole hours: most bars need no format.
    if ((atMs / minuteMs) % Math.min(step, 60) !== 0) return false;
    return step <= 60 || Number(clockTime(atMs).slice(0, 2)) % (step / 60) === 0;
  };
  return tsMs.flatMap((atMs, index) => (isRound(atMs) ? [index] : []));
}

/** Places of labels on the time axis, the more important first: of days or longer periods, then of round times. */
function labelled(tsMs: readonly number[], timeframe: Timeframe, room: number): [number[], (atMs: number) => string][] {
  if (timeframe === '1d')
    return [
      [starts(tsMs, (atMs) => dateOf(atMs).slice(0, 4)), (atMs) => dateOf(atMs).slice(0, 4)],
      [starts(tsMs, (atMs) => dateOf(atMs).slice(0, 7)), (atMs) => dayOf(atMs).split(' ')[0]!],
      [starts(tsMs, weekOf), dayOf],
    ];
  const minutesPerBar = timeframe === '1h' ? 60 : Number.parseInt(timeframe, 10);
  const step = roundSteps.find((one) => one >= room * minutesPerBar);
  return [
    [dayStarts(tsMs), dayOf],
    [step === undefined ? [] : roundTimes(tsMs, step), clockTime],
  ];
}

/** Labels of the time axis below bars, [index, text], at least `room` bars apart. */
export function timeLabels(tsMs: readonly number[], timeframe: Timeframe, room: number): [number, string][] {
  const placed: [number, string][] = [];
  for (const [indexes, text] of labelled(tsMs, timeframe, room))
    for (const index of indexes)
      if (placed.every(([other]) => Math.abs(other - index) >= room)) placed.push([index, text(tsMs[index]!)]);
  return placed.sort(([one], [other]) => one - other);
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

/** A candle on the screen, pixels: its middle, and its upper and lower end. */
export interface CandleShape {
  x: number;
  top: number;
  bottom: number;
}

// Distance of the places that are tried, and of a name from a candle, pixels.
const placeStep = 12;
const besideCandle = 2;

/**
 * Left end of a name of a size, in pixels, with its upper end at `top`: the first from `left` at which it covers no
 * candle; null = there is none before `right`.
 */
export function freePlace(
  candles: readonly CandleShape[],
  { left, right }: { left: number; right: number },
  { top, width, height }: { top: number; width: number; height: number },
): number | null {
  const beside = candles.filter((candle) => candle.top < top + height && candle.bottom > top);
  const isFree = (at: number) => beside.every(({ x }) => x < at - besideCandle || x > at + width + besideCandle);
  for (let at = left; at + width <= right; at += placeStep) if (isFree(at)) return at;
  return null;
}

/** A round number at or slightly above a volume, for the end of its axis. */
export function volumeEnd(most: number): number {
  const unit = 10 ** Math.floor(Math.log10(Math.max(most, 1)));
  return unit * [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((times) => times * unit >= most)!;
}
