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
import { type ChainGroup, settlingLast } from '../pricing/chain-groups.ts';
import { type Mark, type MarkSource, markOf } from '../pricing/mark.ts';
import type { MarketReference } from '../pricing/market-reference.ts';
import { nearestToForward, volatilityAtForward } from './at-the-money.ts';
import { type Skew, skewOf } from './skew.ts';
import { sourcePrice } from './solve-chain.ts';
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
