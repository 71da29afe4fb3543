import { americanPrice } from '../../../src/core/analytics/pricing/american.ts';
import { blackScholes } from '../../../src/core/analytics/pricing/black-scholes.ts';
import { yearsUntil } from '../../../src/core/analytics/pricing/chain-groups.ts';
import { type ChainCapture, type ChainRow, unknownNumbers } from '../../../src/core/domain/chain/chain.ts';
import type { OptionRight } from '../../../src/core/domain/chain/option-contract.ts';
import { lastInstant, standardRoots } from '../../../src/core/domain/chain/option-root.ts';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';

/** Wednesday 2025-06-04, 11:00 New York. */
export const capturedAt = exchangeInstant('2025-06-04', 11 * 60);
export const sessionDate = '2025-06-04';

/** The market the made-up chains are priced in. */
export const market = { spot: 600, rate: 0.045, dividendYield: 0.012 };

/** A skewed smile, annualized fraction at a strike. */
export function smileAt(strike: number): number {
  return 0.18 - 0.25 * Math.log(strike / market.spot);
}

/** One contract priced on the smile and quoted a cent either side, or as `more` says. */
export function pricedRow(
  root: string,
  expiry: string,
  right: OptionRight,
  strike: number,
  more: Partial<ChainRow> = {},
): ChainRow {
  const { style, settlement } = standardRoots.of(root);
  const years = yearsUntil(lastInstant(expiry, settlement), capturedAt);
  const option = { ...market, right, strike, years, volatility: smileAt(strike) };
  const price = style === 'american' ? americanPrice(option) : blackScholes(option).price;
  return {
    ...unknownNumbers,
    root,
    expiry,
    right,
    strike: strike * 1000,
    openInterest: 100 + (strike % 7) * 10 + (right === 'put' ? 55 : 0),
    bid: Math.max(0, price - 0.01),
    ask: price + 0.01,
    sharesPerContract: 100,
    ...more,
  };
}

/** A chain of `rows` at the capture's instant. */
export function chainOf(rows: ChainRow[], more: Partial<ChainCapture> = {}): ChainCapture {
  const underlying = rows[0] ? standardRoots.of(rows[0].root).underlying : 'SPY';
  return {
    underlying,
    capturedAt,
    sessionDate,
    spot: market.spot,
    priorCloseSpot: 598,
    partial: false,
    rows,
    ...more,
  };
}

/** Calls and puts at every strike of every expiry. */
export function pricedChain(root: string, expiries: readonly string[], strikes: readonly number[]): ChainCapture {
  const rights = ['call', 'put'] as const;
  return chainOf(
    expiries.flatMap((expiry) =>
      strikes.flatMap((strike) => rights.map((right) => pricedRow(root, expiry, right, strike))),
    ),
  );
}
