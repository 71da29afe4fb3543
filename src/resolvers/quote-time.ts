import { type ChainCapture, sourceTime } from '../core/domain/chain/chain.ts';

type Captured = Pick<ChainCapture, 'capturedAt' | 'delayMs'>;

/** Times of a capture's quotes. */
export interface QuoteTime {
  /** Epoch ms; null without a capture. */
  sourceTime: number | null;
  /** Age of the quotes at the capture's time, ms; null if unknown, which counts as 0. */
  delayMs: number | null;
}

/** The time of a capture's quotes; null = there is none. */
export function quoteTimeOf(capture: Captured | null): QuoteTime {
  return { sourceTime: capture && sourceTime(capture), delayMs: capture?.delayMs ?? null };
}

/** The time of a capture's quotes, epoch ms; null if it is the capture's own, or there is none. */
export function delayedSourceTime(capture: Captured | null): number | null {
  return capture?.delayMs ? sourceTime(capture) : null;
}
