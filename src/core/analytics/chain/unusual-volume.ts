import type { ChainRow } from '../../domain/chain/chain.ts';

/**
 * Contracts traded in the session so far over those open as of the prior close: above 1, more were traded than were
 * open. Null when either is unknown, or none is open.
 */
export function volumeToOpenInterest({ volume, openInterest }: Pick<ChainRow, 'volume' | 'openInterest'>) {
  return volume === null || !openInterest ? null : volume / openInterest;
}
