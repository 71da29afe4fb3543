import type { SessionDate } from '../market-time.ts';
import type { PricedDividend } from './priced-dividend.ts';

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
