import { tradeDate } from '../calendar.ts';
import type { SessionDate } from '../market-time.ts';
import { roundHalfEven } from '../units.ts';
import type { BarColumns } from './bar.ts';

/** A split of a share, or a reverse split. */
export interface Split {
  symbol: string;
  /** The first session with the new shares. */
  exDate: SessionDate;
  /** New shares per old one: 10 for 10:1, 0.125 for 1:8. */
  ratio: number;
  /** Declaration date; null = unknown. */
  declared: SessionDate | null;
}

/** True if a split is known on `date`: it was declared by then or, without a declaration date, is in effect. */
export function isKnownOn(
  { exDate, declared }: { exDate: SessionDate; declared: SessionDate | null },
  date: SessionDate,
): boolean {
  return (declared ?? exDate) <= date;
}

/**
 * Divisor that makes prices of the session `from` comparable with those of a later session `to`: the product of the
 * ratios of all splits after `from` and up to `to`; 1 without any.
 */
export function splitFactor(splits: readonly Split[], from: SessionDate, to: SessionDate): number {
  let factor = 1;
  for (const { exDate, ratio } of splits) if (exDate > from && exDate <= to) factor *= ratio;
  return factor;
}

/** Bars in shares of the session `to`: prices divided by the splits since, volumes multiplied. */
export function splitAdjusted(bars: BarColumns, splits: readonly Split[], to: SessionDate): BarColumns {
  const firstMs = bars.tsMs[0];
  if (firstMs === undefined) return bars;
  const first = tradeDate(firstMs);
  // Usually there is none, and no bar is read.
  if (!splits.some(({ exDate }) => exDate > first && exDate <= to)) return bars;
  const factors = new Map<SessionDate, number>();
  const factorOf = (tsMs: number) => {
    const date = tradeDate(tsMs);
    let factor = factors.get(date);
    if (factor === undefined) {
      factor = splitFactor(splits, date, to);
      factors.set(date, factor);
    }
    return factor;
  };
  const by = Float64Array.from(bars.tsMs, factorOf);
  if (by.every((factor) => factor === 1)) return bars;
  const prices = (column: Float64Array) => column.map((price, i) => price / by[i]!);
  const volumes = (column: Float64Array) => column.map((volume, i) => roundHalfEven(volume * by[i]!));
  return {
    ...bars,
    open: prices(bars.open),
    high: prices(bars.high),
    low: prices(bars.low),
    close: prices(bars.close),
    vwap: prices(bars.vwap),
    volume: volumes(bars.volume),
    ...(bars.pricedVolume && { pricedVolume: volumes(bars.pricedVolume) }),
  };
}

/** The largest ratio to detect in prices: above it, one per cent covers every price. */
const largestGuess = 50;
/** Distance from a whole number within which a ratio of prices suggests a split, relative. */
const guessShare = 0.01;

/** The whole number n ≥ 2 within 1 % of a ratio of prices; null if there is none. */
function wholeRatio(ratio: number): number | null {
  const n = Math.round(ratio);
  return n >= 2 && n <= largestGuess && Math.abs(ratio / n - 1) <= guessShare ? n : null;
}

/**
 * The split suggested by the close before and an open, as `10:1` or `1:8`, if none is recorded; null if there is none.
 */
export function likelySplit(closeBefore: number, open: number): string | null {
  const split = wholeRatio(closeBefore / open);
  if (split !== null) return `${split}:1`;
  const consolidation = wholeRatio(open / closeBefore);
  return consolidation === null ? null : `1:${consolidation}`;
}
