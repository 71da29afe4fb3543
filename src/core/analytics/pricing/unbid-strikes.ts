import type { ChainRow } from '../../domain/chain/chain.ts';
import { methodologySettings } from '../methodology.ts';
import { blackScholes } from './black-scholes.ts';
import type { ChainGroup } from './chain-groups.ts';

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
export function unbidVolatilities(
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
