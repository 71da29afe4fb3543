import type { SessionDate } from '../market-time.ts';
import type { ChainCapture } from './chain.ts';

/** The contracts of one root and expiry in a capture. */
export interface ListedExpiry {
  root: string;
  expiry: SessionDate;
  contracts: number;
  /** Contracts outstanding; unknown ones count as zero. */
  openInterest: number;
}

/** The size of a capture's listing, without its rows. */
export interface ChainOutline extends Pick<ChainCapture, 'capturedAt' | 'delayMs' | 'sessionDate' | 'spot'> {
  /** By `listingKey`. */
  listed: ReadonlyMap<string, ListedExpiry>;
}

/** A root and expiry as text. */
export function listingKey(root: string, expiry: SessionDate): string {
  return `${root} ${expiry}`;
}

/** Counts listed contracts; consecutive ones of one root and expiry share one look-up. */
export function createListing() {
  const listed = new Map<string, ListedExpiry>();
  let last: ListedExpiry = { root: '', expiry: '', contracts: 0, openInterest: 0 };
  return {
    listed,
    /** Adds a contract; null: its open interest is unknown. */
    add(root: string, expiry: SessionDate, openInterest: number | null) {
      if (last.root !== root || last.expiry !== expiry) {
        const key = listingKey(root, expiry);
        last = listed.get(key) ?? { root, expiry, contracts: 0, openInterest: 0 };
        listed.set(key, last);
      }
      last.contracts++;
      last.openInterest += openInterest ?? 0;
    },
  };
}

/** Counts the contracts and open interest of a capture. */
export function outlineOf({ capturedAt, delayMs, sessionDate, spot, rows }: ChainCapture): ChainOutline {
  const { listed, add } = createListing();
  for (const { root, expiry, openInterest } of rows) add(root, expiry, openInterest);
  return { capturedAt, delayMs: delayMs ?? null, sessionDate, spot, listed };
}
