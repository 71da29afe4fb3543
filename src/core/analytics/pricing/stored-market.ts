import type { ExpiryInputs } from '../../domain/chain/capture-inputs.ts';
import { type ChainCapture, sourceTime } from '../../domain/chain/chain.ts';
import type { Dividend } from '../../domain/market/dividends.ts';
import { type CashDividend, noDividends } from './cash-dividends.ts';
import type { ChainGroup } from './chain-groups.ts';
import { carriedForward } from './forward.ts';
import { cashOf, comingDividends, dividendsBefore, pricedDividend, yearsBefore } from './group-dividends.ts';

/** Pricing inputs of a group with its forward in place of the spot, which follows from it. */
export interface ForwardMarket {
  /** Dollars. */
  forward: number;
  years: number;
  /** Risk-free, continuous, a fraction a year. */
  rate: number;
  /** Continuous yield beyond the dividends, a fraction a year. */
  dividendYield: number;
  /** Those that go ex before expiry, ascending. */
  dividends: readonly CashDividend[];
}

/** The market that a stored capture priced a group in. */
export interface StoredMarket extends ForwardMarket {
  /**
   * True if its contracts re-priced in it have the stored greeks. False if several dividends were known whose sum alone
   * is stored: all of it then counts at the first ex-date.
   */
  isExact: boolean;
}

/** The price that options are priced with in a market, dollars. */
export function spotOf({ forward, rate, dividendYield, years }: ForwardMarket): number {
  return forward / carriedForward(1, rate, dividendYield, years);
}

/** A capture's terms that decide which dividends its contracts were priced with. */
export interface DividendTerms {
  /** All dividends of the underlying that are stored now. */
  known: readonly Dividend[];
  /** The price that those stated as a share of it are of, dollars. */
  price: number;
}

/** Derives the market of a group from what is stored of it. */
export function storedMarket(
  group: Pick<ChainGroup, 'expiry' | 'years'>,
  { forward, rate, dividendYield, dividend }: Omit<ExpiryInputs, 'years'>,
  chain: Pick<ChainCapture, 'capturedAt' | 'delayMs'>,
  { known, price }: DividendTerms,
): StoredMarket {
  const market = { forward, years: group.years, rate, dividendYield };
  if (dividend === null) return { ...market, dividends: noDividends, isExact: true };
  const quotedAt = sourceTime(chain);
  const coming = dividendsBefore(group, comingDividends(known, quotedAt, price));
  const priced = pricedDividend(coming);
  if (dividend.source === 'dataset' && priced?.exDate === dividend.exDate && priced.amount === dividend.amount)
    return { ...market, dividends: cashOf(coming), isExact: true };
  const only = { amount: dividend.amount, years: yearsBefore(dividend.exDate, quotedAt) };
  return { ...market, dividends: [only], isExact: dividend.source === 'inferred' };
}
