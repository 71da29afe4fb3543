import type { ChainRow } from '../../domain/chain/chain.ts';
import type { OptionRight } from '../../domain/chain/option-contract.ts';
import { methodologySettings } from '../methodology.ts';
import { americanVolatility } from './american.ts';
import { blackScholes } from './black-scholes.ts';
import { type CashDividend, presentDividends } from './cash-dividends.ts';
import type { ChainGroup, ListedStrike } from './chain-groups.ts';
import { carriedForward } from './forward.ts';
import { europeanVolatility } from './implied-volatility.ts';
import { quoteMid } from './mark.ts';
import { unbidVolatilities } from './unbid-strikes.ts';

/** Pricing inputs of a group's volatilities. */
export interface SmileMarket {
  /** Dollars, less the present value of the dividends. */
  spot: number;
  rate: number;
  dividendYield: number;
  /** Those with an ex-date before expiry. */
  dividends: readonly CashDividend[];
}

/** A contract's price and its pricing inputs. */
export interface QuotedOption extends SmileMarket {
  right: OptionRight;
  strike: number;
  years: number;
  american: boolean;
  /** Dollars per share. */
  mark: number;
  /** Half of ask − bid; null if the mark is not a mid. */
  halfSpread: number | null;
}

/** Pricing inputs of a contract, without its mark. */
type UnmarkedOption = Omit<QuotedOption, 'mark' | 'halfSpread'>;

/**
 * The lower bound of a contract's value, dollars: zero, the European lower bound, its exercise value if it is American.
 */
function leastValue(option: UnmarkedOption): number {
  const { right, spot, strike, years, rate, dividendYield, dividends, american } = option;
  const sign = right === 'call' ? 1 : -1;
  const european = Math.exp(-rate * years) * sign * (carriedForward(spot, rate, dividendYield, years) - strike);
  return Math.max(0, european, american ? sign * (spot + presentDividends(dividends, rate) - strike) : 0);
}

/** The upper bound of a contract's value, dollars: its deliverable, or its price; discounted if it is European. */
function mostValue(option: UnmarkedOption): number {
  const { right, spot, strike, years, rate, dividendYield, dividends, american } = option;
  if (american) return right === 'call' ? spot + presentDividends(dividends, rate) : strike;
  return right === 'call' ? spot * Math.exp(-dividendYield * years) : strike * Math.exp(-rate * years);
}

/** True if a price, dollars, implies a volatility: it is between the lower and upper bounds. */
export function isWithinBounds(option: UnmarkedOption, mark: number): boolean {
  return mark > leastValue(option) + methodologySettings.boundMargin && mark < mostValue(option);
}

/**
 * The implied volatility of one contract, annualized fraction; NaN if its mark implies none: outside its bounds, no
 * time left, beyond [0.005, 10], or half the quote's spread is worth more than 0.5 of volatility.
 */
export function contractVolatility(option: QuotedOption): number {
  const { right, spot, strike, years, rate, dividendYield, dividends, american, mark, halfSpread } = option;
  const { boundMargin, minimumVolatility, maximumVolatility, maximumVolatilityError } = methodologySettings;
  const discount = Math.exp(-rate * years);
  const forward = carriedForward(spot, rate, dividendYield, years);
  if (!(years > 0 && mark > leastValue(option) + boundMargin)) return Number.NaN;
  const volatility = american
    ? americanVolatility(mark, { right, spot, strike, years, rate, dividendYield, dividends })
    : europeanVolatility(right, mark, forward, strike, years, discount);
  if (!(volatility >= minimumVolatility && volatility <= maximumVolatility)) return Number.NaN;
  if (halfSpread === null) return volatility;
  const { vega } = blackScholes({ right, spot, strike, years, rate, dividendYield, volatility });
  return halfSpread <= maximumVolatilityError * vega ? volatility : Number.NaN;
}

/** Origins of a strike's volatility, which equal the first four of `solveOrigins`. */
const [none, outOfTheMoney, inTheMoney, interpolated] = [0, 1, 2, 3];

/**
 * The volatilities of a group's strikes, NaN unknown, and the origin of each: 0 none, 1 out of the money, 2 in, 3
 * interpolated.
 */
export interface Smile {
  volatility: Float64Array;
  origin: Uint8Array;
}

/**
 * One volatility per strike, for its call and its put: from the out-of-the-money side, else from the other, else
 * interpolated linearly in ln(K/F) between the nearest solved strikes on either side. A strike without a bid and with
 * an uninformative ask is on the line through those with one.
 */
export function solveSmile(group: ChainGroup, rows: readonly ChainRow[], market: SmileMarket): Smile {
  const forward = carriedForward(market.spot, market.rate, market.dividendYield, group.years);
  const volatility = new Float64Array(group.strikes.length).fill(Number.NaN);
  const origin = new Uint8Array(group.strikes.length);
  group.strikes.forEach((listed, i) => {
    const out: OptionRight = listed.dollars >= forward ? 'call' : 'put';
    volatility[i] = solveSide(group, listed, out, rows, market);
    if (!Number.isNaN(volatility[i]!)) origin[i] = outOfTheMoney;
    else {
      volatility[i] = solveSide(group, listed, out === 'call' ? 'put' : 'call', rows, market);
      if (!Number.isNaN(volatility[i]!)) origin[i] = inTheMoney;
    }
  });
  const read = (i: number) => (origin[i] === outOfTheMoney ? volatility[i]! : Number.NaN);
  for (const [i, onLine] of unbidVolatilities(group, rows, { ...market, forward }, read)) {
    volatility[i] = onLine;
    origin[i] = interpolated;
  }
  interpolate(group.strikes, { volatility, origin }, forward);
  return { volatility, origin };
}

function solveSide(
  { root, years }: ChainGroup,
  listed: ListedStrike,
  right: OptionRight,
  rows: readonly ChainRow[],
  market: SmileMarket,
): number {
  const row = rows[listed[right]];
  const mark = row ? quoteMid(row.bid, row.ask) : null;
  if (!row || mark === null) return Number.NaN;
  const american = root.style === 'american';
  const halfSpread = 0.5 * (row.ask! - row.bid!);
  return contractVolatility({ ...market, right, strike: listed.dollars, years, american, mark, halfSpread });
}

function interpolate(strikes: readonly ListedStrike[], { volatility, origin }: Smile, forward: number): void {
  let before = -1;
  for (let i = 0; i < strikes.length; i++) {
    if (origin[i] === none) continue;
    if (before >= 0 && i - before > 1) {
      const from = Math.log(strikes[before]!.dollars / forward);
      const span = Math.log(strikes[i]!.dollars / forward) - from;
      for (let j = before + 1; j < i; j++) {
        const part = (Math.log(strikes[j]!.dollars / forward) - from) / span;
        volatility[j] = volatility[before]! + part * (volatility[i]! - volatility[before]!);
      }
    }
    before = i;
  }
  for (let i = 0; i < strikes.length; i++)
    if (origin[i] === none && !Number.isNaN(volatility[i]!)) origin[i] = interpolated;
}
