import type { ChainRow } from '../../domain/chain/chain.ts';
import type { PremiumColumns } from '../../domain/flow/flow.ts';

/** Premium of a session so far, dollars. */
export interface SessionPremium {
  callPremiumUsd: number;
  putPremiumUsd: number;
}

/** Premium of the minutes that begin before an instant, epoch ms. */
export function premiumBefore(minutes: PremiumColumns, endMs: number): SessionPremium {
  const { tsMs, callPremiumUsd: calls, putPremiumUsd: puts } = minutes;
  const sum = { callPremiumUsd: 0, putPremiumUsd: 0 };
  for (let i = 0; i < tsMs.length && tsMs[i]! < endMs; i++) {
    sum.callPremiumUsd += calls[i]!;
    sum.putPremiumUsd += puts[i]!;
  }
  return sum;
}

/** Premium over its mean of the sessions before, to the same minute: 2 = twice as much. Null without any before. */
export interface PremiumRatios {
  call: number | null;
  put: number | null;
}

/** Premium of a session over the mean of those before; null if that is 0, or there are none. */
export function premiumRatios(session: SessionPremium, before: readonly SessionPremium[]): PremiumRatios {
  const ratio = (name: keyof SessionPremium) => {
    const mean = before.reduce((sum, one) => sum + one[name], 0) / before.length;
    return mean > 0 ? session[name] / mean : null;
  };
  return { call: ratio('callPremiumUsd'), put: ratio('putPremiumUsd') };
}

/**
 * Contracts traded in the session so far over those open as of the prior close: above 1, more were traded than were
 * open. Null when either is unknown, or none is open.
 */
export function volumeToOpenInterest({ volume, openInterest }: Pick<ChainRow, 'volume' | 'openInterest'>) {
  return volume === null || !openInterest ? null : volume / openInterest;
}
