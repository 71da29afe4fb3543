import {
  type ChainCapture,
  type ChainRow,
  type GreeksSource,
  type SolveOrigin,
  sourceTime,
  usedGreeks,
} from '../../domain/chain/chain.ts';
import { lastSession, type OptionRoots } from '../../domain/chain/option-root.ts';
import { epochDay, exchangeDate, type SessionDate } from '../../domain/market-time.ts';
import { fromThousandths } from '../../domain/units.ts';
import { methodologySettings } from '../methodology.ts';
import { type ChainGroup, type ListedStrike, settlingLast } from '../pricing/chain-groups.ts';
import type { MarketReference } from '../pricing/group-rate.ts';
import { type Mark, type MarkSource, markOf } from '../pricing/mark.ts';
import { type SolvedGroup, sourcePrice } from './solve-chain.ts';
import { chainPricing } from './stored-pricing.ts';

/** One expiry of a chain's term structure. */
export interface TermExpiry extends Skew {
  expiry: SessionDate;
  /** From the time of the quotes to the last instant of the root that settles last, years of 365 days. */
  years: number;
  /** Calendar days from the New York date of the capture's quotes. */
  dte: number;
  /** Number of contracts with a known volatility: the expiry's points of the surface. */
  contractCount: number;
  /** The listed strike nearest the forward, thousandths; null without a volatility or a price of the underlying. */
  atmStrike: number | null;
  /** At the forward, annualized fraction; null without one on both sides, or a price of the underlying. */
  atmIv: number | null;
}

/** A chain's volatilities: its expiries ascending, and the rows that are points of the surface. */
export interface VolatilitySurface {
  expiries: TermExpiry[];
  /** Indexes of rows, by expiry, strike, call before put: at most one row of each. */
  rows: Uint32Array;
  /** The price of the underlying for moneyness, dollars: the implied one if the source's is stale; null if unknown. */
  price: number | null;
  /** Source of the volatilities; null for a chain without any, or stored by an older version. */
  source: GreeksSource | null;
}

/** One contract of a surface. Null = unknown. */
export interface SurfacePoint extends Pick<ChainRow, 'root' | 'expiry' | 'right' | 'strike' | 'delta' | 'gamma'> {
  /** Annualized fraction. */
  iv: number;
  /** Dollars per share. */
  mark: number | null;
  markSource: MarkSource | null;
  /** Strike over the underlying's price. */
  moneyness: number | null;
}

function hasVolatility(row: ChainRow): boolean {
  const { iv } = usedGreeks(row);
  return iv !== null && iv > 0;
}

/** Settings of a surface; its chain has its own rate. */
export interface SurfaceOptions extends Omit<MarketReference, 'rate'> {
  roots?: OptionRoots | undefined;
}

type SurfaceGroup = ChainGroup & { forward: number | null };

/**
 * The live groups of a chain; their forwards are null without a price of the underlying. `price`: that for moneyness.
 */
function groupsOf(
  chain: ChainCapture,
  { roots, ...reference }: SurfaceOptions,
): { groups: SurfaceGroup[]; price: number | null } {
  const spot = sourcePrice(chain);
  const rate = chain.rate ?? methodologySettings.usualRate;
  const pricing = chainPricing(chain, { ...reference, rate, roots });
  if (spot === null) return { groups: pricing.groups.map((group) => ({ ...group, forward: null })), price: null };
  const { groups, pricingSpot } = pricing.priced();
  // Quotes of a chain updated to a minute have several times, and imply no price; older captures were priced at their
  // own.
  return { groups, price: chain.rate == null ? spot : pricingSpot };
}

function atTheMoney(
  { strikes, forward }: SurfaceGroup,
  rows: readonly ChainRow[],
): Pick<TermExpiry, 'atmStrike' | 'atmIv'> {
  if (forward === null) return nothingKnown;
  const group = { strikes, forward };
  const atmIv = volatilityAtForward(group, {
    of: (index) => usedGreeks(rows[index]!).iv,
    isSolved: (index) => quotedOrigins.has(rows[index]!.solved?.origin),
  });
  return { atmStrike: nearestToForward(group)?.strike ?? null, atmIv };
}

const nothingKnown = { atmStrike: null, atmIv: null };

/** Origins of a volatility from quotes of its strike. */
const quotedOrigins = new Set<SolveOrigin | undefined>(['outOfTheMoney', 'inTheMoney']);

/** Source of a chain's volatilities; null for one stored by an older version, which did not store it. */
function sourceOf({ rows, rate }: ChainCapture): GreeksSource | null {
  if (rows.some(({ solved }) => solved !== undefined)) return 'solved';
  return rate == null ? null : 'vendor';
}

/**
 * The volatilities behind a chain's exposures, solved or the source's: of each expiry that was live at the time of the
 * chain's quotes, those of the root that settles last, so that a strike has one call and one put.
 */
export function volatilitySurface(chain: ChainCapture, options: SurfaceOptions = {}): VolatilitySurface {
  const quotedOn = epochDay(exchangeDate(sourceTime(chain)));
  const points: number[] = [];
  const { groups: live, price } = groupsOf(chain, options);
  const byExpiry = Map.groupBy(live, (group) => group.expiry);
  const expiries = [...byExpiry].map(([expiry, groups]): TermExpiry => {
    const group = settlingLast(groups);
    const before = points.length;
    for (const { call, put } of group.strikes)
      for (const index of [call, put]) if (index >= 0 && hasVolatility(chain.rows[index]!)) points.push(index);
    const contractCount = points.length - before;
    const atm = contractCount === 0 ? nothingKnown : atTheMoney(group, chain.rows);
    return {
      expiry,
      years: group.years,
      dte: epochDay(lastSession(expiry)) - quotedOn,
      contractCount,
      ...atm,
      ...skewOf(group, chain.rows, atm.atmIv),
    };
  });
  return { expiries, rows: Uint32Array.from(points), price, source: sourceOf(chain) };
}

const noMarks: ReadonlyMap<ChainRow, Mark> = new Map();

/**
 * The surface point of a row; `price` is the surface's. The mark is that of its solve, if `marks` has one; a chain's
 * quotes are as old as the chain, and it does not date its last trades.
 */
export function surfacePoint(
  chain: ChainCapture,
  index: number,
  price: number | null,
  marks: ReadonlyMap<ChainRow, Mark> = noMarks,
): SurfacePoint {
  const row = chain.rows[index]!;
  const { root, expiry, right, strike, bid, ask } = row;
  const { iv, delta, gamma } = usedGreeks(row);
  const nowMs = sourceTime(chain);
  const mark = marks.get(row) ?? markOf({ nowMs, quote: { bid, ask, tsMs: nowMs }, trade: null, previousClose: null });
  return {
    root,
    expiry,
    right,
    strike,
    iv: iv!,
    mark: mark?.price ?? null,
    markSource: mark?.source ?? null,
    moneyness: price === null ? null : fromThousandths(strike) / price,
    delta,
    gamma,
  };
}

/** Skew of an expiry at 25 delta, annualized fractions. Null when the smile does not reach 25 delta on a side. */
interface Skew {
  /** iv(Δc = 0.25) − iv(Δp = −0.25): negative where puts are dearer. */
  riskReversal25: number | null;
  /** The mean of the two less the volatility at the money; null without that as well. */
  butterfly25: number | null;
}

/** |Δ| at which skew is measured. */
const skewDelta = 0.25;

/**
 * Volatility at |Δ| = 0.25 on one side of the smile, linear in Δ between neighbouring strikes; null if no two of them
 * enclose it. `rows`: contracts of the side, the one nearest the money first.
 */
function volatilityAtDelta(rows: readonly ChainRow[]): number | null {
  let before: { delta: number; iv: number } | null = null;
  for (const row of rows) {
    const { iv, delta } = usedGreeks(row);
    const isSmile = row.solved === undefined || row.solved.origin === 'outOfTheMoney';
    if (iv === null || !(iv > 0) || delta === null || !isSmile) continue;
    const next = { delta: Math.abs(delta), iv };
    if (next.delta <= skewDelta) {
      if (before === null) return next.delta === skewDelta ? iv : null;
      const share = (before.delta - skewDelta) / (before.delta - next.delta);
      return before.iv + share * (next.iv - before.iv);
    }
    before = next;
  }
  return null;
}

/**
 * Skew of an expiry on its out-of-the-money smile: calls at or above the forward, puts below. Of a solved capture the
 * contracts whose own quote gave the volatility, else those of the source.
 */
function skewOf(
  { strikes, forward }: { strikes: readonly ListedStrike[]; forward: number | null },
  rows: readonly ChainRow[],
  atmIv: number | null,
): Skew {
  if (forward === null) return { riskReversal25: null, butterfly25: null };
  const calls = strikes.filter(({ dollars }) => dollars >= forward).map(({ call }) => rows[call]);
  const puts = strikes
    .filter(({ dollars }) => dollars < forward)
    .map(({ put }) => rows[put])
    .reverse();
  const [call, put] = [calls, puts].map((side) => volatilityAtDelta(side.filter((row) => row !== undefined)));
  if (call == null || put == null) return { riskReversal25: null, butterfly25: null };
  return { riskReversal25: call - put, butterfly25: atmIv === null ? null : (call + put) / 2 - atmIv };
}

/** The usable strike nearest the forward, the lower of two equally near ones; null if none is usable. */
export function nearestToForward(
  { strikes, forward }: Pick<SolvedGroup, 'strikes' | 'forward'>,
  usable: (listed: ListedStrike) => boolean = () => true,
): ListedStrike | null {
  let nearest: ListedStrike | null = null;
  for (const listed of strikes) {
    const closer = nearest === null || Math.abs(listed.dollars - forward) < Math.abs(nearest.dollars - forward);
    if (closer && usable(listed)) nearest = listed;
  }
  return nearest;
}

/** Volatilities of contracts by index: an annualized fraction, NaN or null when unknown. */
interface KnownVolatilities {
  of(index: number): number | null;
  /** True if the volatility is from the contract's own quotes, or those of the other right of its strike. */
  isSolved(index: number): boolean;
}

/**
 * The volatility at the forward of an expiry, an annualized fraction: total variance linear in ln(K/F) between the
 * nearest solved strikes on both sides; null if a side has none. Without any solved strike, of the source's
 * volatilities.
 */
export function volatilityAtForward(
  { strikes, forward }: Pick<SolvedGroup, 'strikes' | 'forward'>,
  known: KnownVolatilities,
): number | null {
  const isSolved = (index: number) => index >= 0 && known.isSolved(index);
  const anySolved = strikes.some(({ call, put }) => isSolved(call) || isSolved(put));
  const read = (index: number) => (index >= 0 && (!anySolved || known.isSolved(index)) ? (known.of(index) ?? 0) : 0);
  let below: { x: number; variance: number } | null = null;
  for (const { dollars, call, put } of strikes) {
    const [first, second] = dollars >= forward ? [call, put] : [put, call];
    const volatility = read(first) || read(second);
    if (!(volatility > 0)) continue;
    const next = { x: Math.log(dollars / forward), variance: volatility ** 2 };
    if (next.x === 0) return volatility;
    if (next.x > 0) {
      if (below === null) return null;
      const share = -below.x / (next.x - below.x);
      return Math.sqrt(below.variance + share * (next.variance - below.variance));
    }
    below = next;
  }
  return null;
}

/** Volatility at the money of an expiry. */
interface DatedVolatility {
  /** From the time of the quotes to the contracts' last instant, years of 365 days. */
  years: number;
  /** Annualized fraction; null when unknown. */
  atmIv: number | null;
}

/**
 * Implied volatility at a number of days, an annualized fraction: total variance σ²T at the money, linear in T between
 * the expiries on both sides. Null beyond them. `expiries` ascending.
 */
export function volatilityAtDays(expiries: readonly DatedVolatility[], days: number): number | null {
  const years = days / 365;
  let before: { years: number; variance: number } | null = null;
  for (const expiry of expiries) {
    if (expiry.atmIv === null) continue;
    const next = { years: expiry.years, variance: expiry.atmIv ** 2 * expiry.years };
    if (next.years === years) return expiry.atmIv;
    if (next.years > years) {
      if (before === null) return null;
      const share = (years - before.years) / (next.years - before.years);
      return Math.sqrt((before.variance + share * (next.variance - before.variance)) / years);
    }
    before = next;
  }
  return null;
}
