import type { ChainRow } from '../../domain/chain/chain.ts';
import type { OptionRight } from '../../domain/chain/option-contract.ts';
import { methodologySettings } from '../methodology.ts';
import { americanPrice, americanVolatility } from './american.ts';
import { blackScholes, europeanVolatility } from './black-scholes.ts';
import { type CashDividend, presentDividends } from './cash-dividends.ts';
import type { ChainGroup, ListedStrike } from './chain-groups.ts';
import { carriedForward } from './forward.ts';
import { quoteMid } from './mark.ts';

/** Pricing inputs of a group's volatilities. */
interface SmileMarket {
  /** Dollars, less the present value of the dividends. */
  spot: number;
  rate: number;
  dividendYield: number;
  /** Those with an ex-date before expiry. */
  dividends: readonly CashDividend[];
}

/** A contract's price and its pricing inputs. */
interface QuotedOption extends SmileMarket {
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
 * time left, beyond [0.005, 10], or half the quote's spread is worth more volatility than `maximumError`.
 */
export function contractVolatility(
  option: QuotedOption,
  maximumError: number = methodologySettings.maximumVolatilityError,
): number {
  const { right, spot, strike, years, rate, dividendYield, dividends, american, mark, halfSpread } = option;
  const { boundMargin, minimumVolatility, maximumVolatility } = methodologySettings;
  const discount = Math.exp(-rate * years);
  const forward = carriedForward(spot, rate, dividendYield, years);
  if (!(years > 0 && mark > leastValue(option) + boundMargin)) return Number.NaN;
  const volatility = american
    ? americanVolatility(mark, { right, spot, strike, years, rate, dividendYield, dividends })
    : europeanVolatility(right, mark, forward, strike, years, discount);
  if (!(volatility >= minimumVolatility && volatility <= maximumVolatility)) return Number.NaN;
  if (halfSpread === null) return volatility;
  const { vega } = blackScholes({ right, spot, strike, years, rate, dividendYield, volatility });
  return halfSpread <= maximumError * vega ? volatility : Number.NaN;
}

/** Origins of a strike's volatility, which equal the first four of `solveOrigins`. */
const [none, outOfTheMoney, inTheMoney, interpolated] = [0, 1, 2, 3];

/**
 * The volatilities of a group's strikes, NaN unknown, and the origin of each: 0 none, 1 out of the money, 2 in, 3
 * interpolated.
 */
interface Smile {
  volatility: Float64Array;
  origin: Uint8Array;
}

/**
 * The lowest strike, dollars, from which calls are the side out of the money: the forward. Of American options before
 * an ex-date the price with the dividend, if it is higher, that strike itself excluded: a call up to there may be worth
 * its exercise tonight.
 */
export function leastCallStrike({ root }: Pick<ChainGroup, 'root'>, market: SmileMarket & { forward: number }): number {
  const { spot, rate, dividends, forward } = market;
  if (root.style !== 'american' || dividends.length === 0) return forward;
  const withDividends = spot + presentDividends(dividends, rate);
  return withDividends < forward ? forward : withDividends * (1 + Number.EPSILON);
}

/**
 * One volatility per strike, for its call and its put: from the out-of-the-money side, else from the other, else
 * interpolated linearly in ln(K/F) between the nearest solved strikes on either side, else that of the outermost solved
 * strike if there is no bid. A strike without a bid and with an uninformative ask is on the line through those with
 * one.
 */
export function solveSmile(group: ChainGroup, rows: readonly ChainRow[], market: SmileMarket): Smile {
  const forward = carriedForward(market.spot, market.rate, market.dividendYield, group.years);
  const volatility = new Float64Array(group.strikes.length).fill(Number.NaN);
  const origin = new Uint8Array(group.strikes.length);
  const { maximumVolatilityError, maximumInTheMoneyError } = methodologySettings;
  const callsFrom = leastCallStrike(group, { ...market, forward });
  group.strikes.forEach((listed, i) => {
    const out: OptionRight = listed.dollars >= callsFrom ? 'call' : 'put';
    volatility[i] = solveSide(group, listed, out, rows, market, maximumVolatilityError);
    if (!Number.isNaN(volatility[i]!)) origin[i] = outOfTheMoney;
    else if (out === 'call' || callsFrom === forward) {
      const other = out === 'call' ? 'put' : 'call';
      volatility[i] = solveSide(group, listed, other, rows, market, maximumInTheMoneyError);
      if (!Number.isNaN(volatility[i]!)) origin[i] = inTheMoney;
    }
  });
  const read = (i: number) => (origin[i] === outOfTheMoney ? volatility[i]! : Number.NaN);
  for (const [i, onLine] of unbidVolatilities(group, rows, { ...market, forward, callsFrom }, read)) {
    volatility[i] = onLine;
    origin[i] = interpolated;
  }
  const smile = { volatility, origin };
  interpolate(group.strikes, smile, forward);
  carryOutwards(group, rows, market, smile, callsFrom);
  return smile;
}

function solveSide(
  { root, years }: ChainGroup,
  listed: ListedStrike,
  right: OptionRight,
  rows: readonly ChainRow[],
  market: SmileMarket,
  maximumError: number,
): number {
  const row = rows[listed[right]];
  const mark = row ? quoteMid(row.bid, row.ask) : null;
  if (!row || mark === null) return Number.NaN;
  const american = root.style === 'american';
  const halfSpread = 0.5 * (row.ask! - row.bid!);
  return contractVolatility(
    { ...market, right, strike: listed.dollars, years, american, mark, halfSpread },
    maximumError,
  );
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

/**
 * Gives contracts without a bid beyond the outermost solved strike of their side its volatility, if they are worth at
 * most a cent over their ask at it: worthless is not unknown.
 */
function carryOutwards(
  group: ChainGroup,
  rows: readonly ChainRow[],
  market: SmileMarket,
  { volatility, origin }: Smile,
  callsFrom: number,
): void {
  const { strikes, root, years } = group;
  const isSolved = (o: number) => o === outOfTheMoney || o === inTheMoney;
  const ends = { call: origin.findLastIndex(isSolved), put: origin.findIndex(isSolved) };
  if (ends.call < 0) return;
  const carried = { call: volatility[ends.call]!, put: volatility[ends.put]! };
  strikes.forEach((listed, i) => {
    if (origin[i] !== none) return;
    const right: OptionRight = listed.dollars >= callsFrom ? 'call' : 'put';
    const isBeyond = right === 'call' ? i > ends.call : i < ends.put;
    const row = rows[listed[right]];
    if (!isBeyond || !row || row.bid! > 0 || row.ask === null) return;
    const option = { ...market, right, strike: listed.dollars, years, volatility: carried[right] };
    const most = row.ask + methodologySettings.carriedPriceMargin;
    // An American option is worth no less than a European one, and its tree takes longer.
    if (blackScholes(option).price > most || (root.style === 'american' && americanPrice(option) > most)) return;
    volatility[i] = carried[right];
    origin[i] = interpolated;
  });
}

/** Pricing inputs of the strikes of an expiry. */
interface StrikeMarket {
  /** Dollars, less the present value of the dividends. */
  spot: number;
  rate: number;
  dividendYield: number;
  forward: number;
  /** The lowest strike, dollars, whose call is the side out of the money. */
  callsFrom: number;
}

/** A strike whose volatility is from its out-of-the-money side. */
interface ReadStrike {
  index: number;
  /** ln(K/F). */
  x: number;
  volatility: number;
  /** Effect of half the spread on the volatility, absolute. */
  error: number;
}

const nothing: ReadonlyMap<number, number> = new Map();

/** The minimum half-spread, dollars: a locked quote is no more certain than half a cent. */
const leastHalfSpread = 0.005;

/** The strikes of a group with such a volatility, either with a bid out of the money, or without one. */
function readStrikes(
  { strikes, years }: ChainGroup,
  rows: readonly ChainRow[],
  { spot, rate, dividendYield, forward, callsFrom }: StrikeMarket,
  { read, hasBid }: { read: (index: number) => number; hasBid: boolean },
): ReadStrike[] {
  const found: ReadStrike[] = [];
  for (const [index, listed] of strikes.entries()) {
    const right = listed.dollars >= callsFrom ? 'call' : 'put';
    const row = rows[listed[right]];
    if (!row || row.bid! > 0 !== hasBid) continue;
    const volatility = read(index);
    if (Number.isNaN(volatility)) continue;
    const { vega } = blackScholes({ right, spot, strike: listed.dollars, years, rate, dividendYield, volatility });
    const error = Math.max(leastHalfSpread, 0.5 * (row.ask! - row.bid!)) / vega;
    found.push({ index, x: Math.log(listed.dollars / forward), volatility, error });
  }
  return found;
}

/**
 * The straight line in ln(K/F) through volatilities, weighted by the certainty of their quotes; null without a spread
 * of strikes.
 */
function lineThrough(points: readonly ReadStrike[]): ((x: number) => number) | null {
  let [weights, xs, ys] = [0, 0, 0];
  for (const { x, volatility, error } of points) {
    weights += error ** -2;
    xs += x * error ** -2;
    ys += volatility * error ** -2;
  }
  const [middle, level] = [xs / weights, ys / weights];
  let [covariance, variance] = [0, 0];
  for (const { x, volatility, error } of points) {
    covariance += (x - middle) * (volatility - level) * error ** -2;
    variance += (x - middle) ** 2 * error ** -2;
  }
  return variance > 0 ? (x) => level + (covariance / variance) * (x - middle) : null;
}

/**
 * The volatilities, by index, of strikes without a bid and with an uninformative ask: half of it is worth more than a
 * tenth of the volatility. A $0.005 mid of an $11 share two deviations away is a volatility several times too high.
 * They are on the straight line through the strikes of the expiry that have a bid, at least three; `read` returns the
 * volatility from the out-of-the-money side of a strike, NaN without one.
 */
function unbidVolatilities(
  group: ChainGroup,
  rows: readonly ChainRow[],
  market: StrikeMarket,
  read: (index: number) => number,
): ReadonlyMap<number, number> {
  const { maximumUnbidError, minimumVolatility, fewestPairs } = methodologySettings;
  const unbid = readStrikes(group, rows, market, { read, hasBid: false });
  const vague = unbid.filter(({ error, volatility }) => error > maximumUnbidError * volatility);
  if (vague.length === 0) return nothing;
  const bid = readStrikes(group, rows, market, { read, hasBid: true });
  const line = bid.length < fewestPairs ? null : lineThrough(bid);
  if (line === null) return nothing;
  return new Map(vague.map(({ index, x }) => [index, Math.max(minimumVolatility, line(x))]));
}
