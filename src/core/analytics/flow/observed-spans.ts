import type { TradedUnderlying } from '../../domain/chain/contract-book.ts';

/** Range of the instants of an underlying's prints, epoch ms. */
export interface ObservedSpan {
  fromMs: number;
  throughMs: number;
}

/** The span of every underlying's prints. */
export interface ObservedSpans {
  add(underlying: TradedUnderlying, tsMs: number): void;
  /** Null without a print of it. */
  of(underlying: TradedUnderlying): ObservedSpan | null;
  /** The underlyings with prints. */
  underlyings(): TradedUnderlying[];
}

/** Creates empty spans. */
export function createObservedSpans(): ObservedSpans {
  const underlyings: TradedUnderlying[] = [];
  const spans: ObservedSpan[] = [];
  return {
    add(underlying, tsMs) {
      const span = spans[underlying.index];
      if (span === undefined) {
        underlyings[underlying.index] = underlying;
        spans[underlying.index] = { fromMs: tsMs, throughMs: tsMs };
      } else if (tsMs > span.throughMs) span.throughMs = tsMs;
      else if (tsMs < span.fromMs) span.fromMs = tsMs;
    },
    of: ({ index }) => spans[index] ?? null,
    underlyings: () => underlyings.filter((underlying) => underlying !== undefined),
  };
}
