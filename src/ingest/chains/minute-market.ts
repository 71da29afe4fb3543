import { chainGroups } from '../../analytics/minute/solve.ts';
import type { KnownGroups } from '../../analytics/pricing/group-market.ts';
import type { MarketReference } from '../../analytics/pricing/market-reference.ts';
import { previousTradingDay, regularSession } from '../../domain/calendar.ts';
import { sourceTime } from '../../domain/chain/chain.ts';
import type { OptionRoots } from '../../domain/chain/option-root.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import { hourMs } from '../../domain/units.ts';
import { chainCaptureAt } from '../../store/chain/chain-captures.ts';
import { type PricePoint, readLastOptionPrices, readPrices } from '../../store/chain/minute-market.ts';
import type { Reader } from '../../store/rows/reader.ts';
import { readReference } from './market-reference.ts';

/** Sources of minute solves beside the option tape. */
export interface MinuteMarketSource {
  /** The price of each underlying at a boundary, dollars; one without is absent. */
  spots(tsMs: number, underlyings: readonly string[]): Promise<Map<string, number>>;
  /** The curve and the dividends of an underlying in the session. */
  reference(underlying: string): Promise<MarketReference>;
  /** Pricing inputs of an underlying's chain that holds at a boundary, by `root expiry`; empty without one. */
  groups(tsMs: number, underlying: string): Promise<KnownGroups>;
  /** Prices of contracts in the session before; one without is absent. */
  closes(contracts: readonly { underlying: string; contract: string }[]): Promise<Map<string, number>>;
}

export interface MinuteMarketOptions {
  from: Reader;
  session: SessionDate;
  rate: number;
  roots: OptionRoots;
  /**
   * The last price of an underlying before a boundary that a live tape gave; absent: only the store is asked, once a
   * session.
   */
  livePrice?: (underlying: string, beforeMs: number) => PricePoint | null;
}

/** The last of the points, ascending, that was known at an instant. */
function lastAt(points: readonly PricePoint[], tsMs: number): PricePoint | null {
  let low = 0;
  for (let high = points.length; low < high; ) {
    const middle = (low + high) >>> 1;
    if (points[middle]!.knownMs <= tsMs) low = middle + 1;
    else high = middle;
  }
  return points[low - 1] ?? null;
}

/**
 * When the chain was captured whose rates and yields hold at one point in time, at the latest: the full hour before it,
 * since they are a matter of days; before the session's first full hour the end of the session before.
 */
function groupsAsOf(session: SessionDate, tsMs: number): number {
  const hour = tsMs - (tsMs % hourMs);
  if (hour > regularSession(session)!.openMs) return hour;
  return regularSession(previousTradingDay(session))!.closeMs - 1;
}

/** The market according to the store and a live tape. */
export function minuteMarketSource({ from, session, rate, roots, livePrice }: MinuteMarketOptions): MinuteMarketSource {
  const stored = new Map<string, PricePoint[]>();
  const groupsBy = new Map<string, KnownGroups>();
  const references = new Map<string, MarketReference>();
  const none: KnownGroups = new Map();
  const before = previousTradingDay(session);
  const closeMs = regularSession(session)?.closeMs ?? Infinity;

  async function chainGroupsAt(underlying: string, asOfMs: number): Promise<KnownGroups> {
    const chain = await chainCaptureAt(from, underlying, asOfMs);
    if (chain === null || (chain.sessionDate !== session && chain.sessionDate !== before)) return none;
    // Out of hours the price of the underlying and the quotes are not of one time.
    const hours = regularSession(chain.sessionDate);
    const quotedAt = sourceTime(chain);
    const isOpen = hours !== null && quotedAt >= hours.openMs && quotedAt < hours.closeMs;
    return isOpen ? chainGroups(chain, { ...(await readReference(from, chain, rate)), roots }) : none;
  }

  return {
    async spots(tsMs, underlyings) {
      const spots = new Map<string, number>();
      const live = new Map(underlyings.map((underlying) => [underlying, livePrice?.(underlying, tsMs) ?? null]));
      const asked = underlyings.filter((underlying) => live.get(underlying)?.tsMs !== tsMs && !stored.has(underlying));
      const read = asked.length === 0 ? null : await readPrices(from, session, asked, livePrice ? tsMs : closeMs);
      if (read && !livePrice) for (const [underlying, points] of read) stored.set(underlying, points);
      for (const underlying of underlyings) {
        const own = live.get(underlying)!;
        const other = lastAt(read?.get(underlying) ?? stored.get(underlying) ?? [], tsMs);
        const point = own === null || (other !== null && other.tsMs > own.tsMs) ? other : own;
        if (point !== null) spots.set(underlying, point.price);
      }
      return spots;
    },
    async reference(underlying) {
      let found = references.get(underlying);
      if (!found) {
        found = await readReference(from, { underlying, sessionDate: session }, rate);
        references.set(underlying, found);
      }
      return found;
    },
    async groups(tsMs, underlying) {
      const asOfMs = groupsAsOf(session, tsMs);
      const key = `${underlying} ${asOfMs}`;
      let found = groupsBy.get(key);
      if (!found) {
        found = await chainGroupsAt(underlying, asOfMs);
        groupsBy.set(key, found);
      }
      return found;
    },
    closes: (contracts) => readLastOptionPrices(from, before, contracts),
  };
}
