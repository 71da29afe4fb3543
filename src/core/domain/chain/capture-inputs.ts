import type { SessionDate } from '../market-time.ts';
import type { OptionRoot } from './option-root.ts';

/** The file of a capture. */
export interface SourceFile {
  /** Base name, without the query of an address. */
  name: string;
  /** SHA-256 of its content, unpacked; hexadecimal. */
  sha256: string;
}

/** Pricing inputs of the contracts of one root and expiry of a capture. */
export interface ExpiryInputs {
  expiry: SessionDate;
  root: string;
  /** From the time of the quotes to the contracts' last instant, years of 365 days. */
  years: number;
  /** Continuous, a fraction per year. */
  rate: number;
  /** Dollars. */
  forward: number;
  /** Continuous, a fraction per year. */
  dividendYield: number;
  /** Null if no dividend is known. */
  dividend: PricedDividend | null;
  /** False for options on a forward; absent if a capture of an earlier version did not store it. */
  followsSpot?: boolean;
}

/** The market that contracts of one root and expiry were priced in: that of `GroupMarket`. */
interface StoredMarket {
  spot: number;
  rate: number;
  dividendYield: number;
  forward: number;
  dividend: PricedDividend | null;
  dividends: readonly { years: number; amount: number }[];
}

/** Terms of one root and expiry of a chain when it was solved. */
interface StoredTerms {
  root: OptionRoot;
  expiry: SessionDate;
  years: number;
  /** Null without a price of the underlying. */
  market: StoredMarket | null;
}

/**
 * The pricing of a chain, stored with it: what is computed from the chain later depends on no list of today. Groups are
 * those with exposures.
 */
export interface StoredPricing {
  impliedSpot: number | null;
  spotStale: boolean | null;
  /** Dollars; null without a price of the underlying. */
  pricingSpot: number | null;
  groups: readonly StoredTerms[];
}

/** Inputs of a capture besides its quotes. */
export interface CaptureInputs {
  /** Version of the program that computed it. */
  productVersion: string;
  /** By expiry, then root. */
  expiries: ExpiryInputs[];
}

/** The base name of a file or an address, without query or fragment. */
export function baseNameOf(address: string): string {
  const path = /^\w+:\/\//.test(address) ? address.replace(/[?#].*$/, '') : address;
  return path.split(/[/\\]/).findLast((part) => part !== '') ?? '';
}

/** The dividend that contracts of an expiry are priced with. */
export interface PricedDividend {
  /** Dollars per share: the sum of those with an ex-date after the quotes and up to the contracts' last session. */
  amount: number;
  /** The first ex-date. */
  exDate: SessionDate;
  /** `dataset`: loaded by the operator. `inferred`: implied by the chain's own quotes on the eve of the ex-date. */
  source: 'dataset' | 'inferred';
}
