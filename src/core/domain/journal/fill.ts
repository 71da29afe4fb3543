import { regularSession, sessionMinutes } from '../calendar.ts';
import { exchangeDate, exchangeInstant } from '../market-time.ts';

/** 1 for a side that buys, -1 for one that sells, such as `sell short`; null for any other text. */
export function directionOf(side: string): 1 | -1 | null {
  const [, word] = /^\s*(buy|sell)\b/i.exec(side) ?? [];
  return word === undefined ? null : word.toLowerCase() === 'buy' ? 1 : -1;
}

/** Parts of the trading day. */
export const marketPhases = ['regular', 'extended', 'closed'] as const;
export type MarketPhase = (typeof marketPhases)[number];

/** The part of the trading day at an instant, epoch ms; extended hours are 04:00 to 20:00 New York. */
export function marketPhase(tsMs: number): MarketPhase {
  const date = exchangeDate(tsMs);
  const hours = regularSession(date);
  if (hours === null) return 'closed';
  if (tsMs >= hours.openMs && tsMs < hours.closeMs) return 'regular';
  const [from, to] = [sessionMinutes.extendedOpen, sessionMinutes.extendedClose].map((minute) =>
    exchangeInstant(date, minute),
  );
  return tsMs >= from! && tsMs < to! ? 'extended' : 'closed';
}

/** The cost of a fill against a reference price. */
export interface Slippage {
  /** Dollars a share. */
  reference: number;
  /** Dollars a share that the fill was worse than the reference; negative = better. */
  perShare: number;
  /** The same in basis points of the reference; null for a reference of 0. */
  bps: number | null;
  /** The same for the whole fill, dollars. */
  totalUsd: number;
}

/** The cost of a fill of `shares` shares, contracts times multiplier, against a reference price. */
export function slippage(
  { price, direction, shares }: { price: number; direction: 1 | -1; shares: number },
  reference: number,
): Slippage {
  // Not -0 for a fill at the reference.
  const perShare = direction * (price - reference) || 0;
  const bps = reference > 0 ? (10_000 * perShare) / reference : null;
  return { reference, perShare, bps, totalUsd: perShare * shares };
}

/** Position of a price in a range: 0 at its low, 1 at its high, beyond them outside; null for a range without width. */
export function positionIn({ low, high }: { low: number; high: number }, price: number): number | null {
  return high > low ? (price - low) / (high - low) : null;
}
