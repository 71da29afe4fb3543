import { type ChainCapture, sourceTime } from '../domain/chain/chain.ts';

type Captured = Pick<ChainCapture, 'capturedAt' | 'delayMs'>;

/** When the quotes of a capture are from. */
export interface QuoteTime {
  /** Epoch ms; null without a capture. */
  sourceTime: number | null;
  /** Age of the quotes at the capture's time, ms; null when unknown, then it is taken as 0. */
  delayMs: number | null;
}

/** When the quotes of a capture are from; null = there is none. */
export function quoteTimeOf(capture: Captured | null): QuoteTime {
  return { sourceTime: capture && sourceTime(capture), delayMs: capture?.delayMs ?? null };
}

/** The time of a capture's quotes, epoch ms; null where it is the capture's own, or there is none. */
export function delayedSourceTime(capture: Captured | null): number | null {
  return capture?.delayMs ? sourceTime(capture) : null;
}
