import type { ChainCapture, ChainRow } from '../../domain/chain/chain.ts';
import { epochDay, exchangeDate, type SessionDate } from '../../domain/market-time.ts';
import { fromThousandths } from '../../domain/units.ts';
import { methodologySettings } from '../methodology.ts';
import { type ChainGroup, groupChain, settlingLast } from '../pricing/chain-groups.ts';
import { type Mark, type MarkSource, markOf } from '../pricing/mark.ts';
import { contractAtTheMoney } from './at-the-money.ts';
import { solveForwards } from './solve-chain.ts';

/** One expiry of a chain's term structure. */
export interface TermExpiry {
  expiry: SessionDate;
  /** Calendar days from the capture's New York date. */
  dte: number;
  /** Contracts whose volatility is known: the expiry's points of the surface. */
  contractCount: number;
  /** Strike, thousandths, of `atmIv`; null with it. */
  atmStrike: number | null;
  /** Annualized fraction; null when no volatility is known, or no price of the underlying. */
  atmIv: number | null;
}

/** A chain's volatilities: its expiries ascending, and which of its rows are points of the surface. */
export interface VolatilitySurface {
  expiries: TermExpiry[];
  /** Indexes of rows, by expiry, strike, call before put: at most one row of each. */
  rows: Uint32Array;
}

/** One contract of a surface. Null = not known. */
export interface SurfacePoint extends Pick<ChainRow, 'root' | 'expiry' | 'right' | 'strike' | 'delta' | 'gamma'> {
  /** Annualized fraction. */
  iv: number;
  /** Dollars a share. */
  mark: number | null;
  markSource: MarkSource | null;
  /** Strike over the underlying's price. */
  moneyness: number | null;
}

const hasVolatility = ({ iv }: ChainRow) => iv !== null && iv > 0;

/** The underlying's price, dollars, that a chain's figures are of: its spot, else its prior close; null when neither is known. */
function priceOf({ spot, priorCloseSpot }: ChainCapture): number | null {
  const price = spot ?? priorCloseSpot;
  return price !== null && price > 0 ? price : null;
}

/** The live groups of a chain; their forwards are null when nothing says what the underlying costs. */
function groupsOf(chain: ChainCapture): (ChainGroup & { forward: number | null })[] {
  const price = priceOf(chain);
  if (price === null) return groupChain(chain).map((group) => ({ ...group, forward: null }));
  return solveForwards(chain, price, { rate: methodologySettings.usualRate });
}

function atTheMoney(
  { strikes, forward }: ChainGroup & { forward: number | null },
  rows: readonly ChainRow[],
): Pick<TermExpiry, 'atmStrike' | 'atmIv'> {
  const found =
    forward === null ? null : contractAtTheMoney({ strikes, forward }, (index) => hasVolatility(rows[index]!));
  return { atmStrike: found?.listed.strike ?? null, atmIv: found === null ? null : rows[found.index]!.iv };
}

/**
 * The volatilities a chain holds, the source's or solved, as they are stored: of each expiry that was live when the chain was
 * captured, those of the root that settles last, so that a strike has one call and one put.
 */
export function volatilitySurface(chain: ChainCapture): VolatilitySurface {
  const capturedOn = epochDay(exchangeDate(chain.capturedAt));
  const points: number[] = [];
  const byExpiry = Map.groupBy(groupsOf(chain), (group) => group.expiry);
  const expiries = [...byExpiry].map(([expiry, groups]): TermExpiry => {
    const group = settlingLast(groups);
    const before = points.length;
    for (const { call, put } of group.strikes)
      for (const index of [call, put]) if (index >= 0 && hasVolatility(chain.rows[index]!)) points.push(index);
    return {
      expiry,
      dte: epochDay(expiry) - capturedOn,
      contractCount: points.length - before,
      ...atTheMoney(group, chain.rows),
    };
  });
  return { expiries, rows: Uint32Array.from(points) };
}

const noMarks: ReadonlyMap<ChainRow, Mark> = new Map();

/**
 * The point of a row that is one of the surface's. A row's mark is that of its solve, where `marks` has one; a chain's quotes are as old as
 * the chain, and it does not date its last trades.
 */
export function surfacePoint(chain: ChainCapture, index: number, marks = noMarks): SurfacePoint {
  const row = chain.rows[index]!;
  const { root, expiry, right, strike, bid, ask, iv, delta, gamma } = row;
  const nowMs = chain.capturedAt;
  const mark = marks.get(row) ?? markOf({ nowMs, quote: { bid, ask, tsMs: nowMs }, trade: null, previousClose: null });
  const price = priceOf(chain);
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
