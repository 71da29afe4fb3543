import { chainYields } from '../../analytics/minute/solve.ts';
import { previousTradingDay, regularSession } from '../../domain/calendar.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import { hourMs } from '../../domain/units.ts';
import { chainCaptureAt } from '../../store/chain/chain-captures.ts';
import { type PricePoint, readLastOptionPrices, readPrices } from '../../store/chain/minute-market.ts';
import type { Reader } from '../../store/engine/replicas.ts';

/** What minute solves are made with beside the option tape. */
export interface MinuteMarketSource {
  /** The price of each underlying at a boundary, dollars; one without is absent. */
  spots(tsMs: number, underlyings: readonly string[]): Promise<Map<string, number>>;
  /** The yields by `root expiry` of an underlying's chain that holds at a boundary; empty without one. */
  yields(tsMs: number, underlying: string): Promise<ReadonlyMap<string, number>>;
  /** Prices of contracts in the session before; one without is absent. */
  closes(contracts: readonly { underlying: string; contract: string }[]): Promise<Map<string, number>>;
}

export interface MinuteMarketOptions {
  from: Reader;
  session: SessionDate;
  rate: number;
  /**
   * The last price of an underlying before a boundary that a live tape gave; absent: only the store is asked, once a
   * session.
   */
  livePrice?: (underlying: string, beforeMs: number) => PricePoint | null;
}

/** The last of ascending points at or before an instant. */
function lastAt(points: readonly PricePoint[], tsMs: number): PricePoint | null {
  let low = 0;
  for (let high = points.length; low < high; ) {
    const middle = (low + high) >>> 1;
    if (points[middle]!.tsMs <= tsMs) low = middle + 1;
    else high = middle;
  }
  return points[low - 1] ?? null;
}

/**
 * When the chain was captured whose yields hold at one point in time, at the latest: the full hour before it, since
 * yields are a matter of days; before the session's first full hour the end of the session before.
 */
function yieldsAsOf(session: SessionDate, tsMs: number): number {
  const hour = tsMs - (tsMs % hourMs);
  if (hour > regularSession(session)!.openMs) return hour;
  return regularSession(previousTradingDay(session))!.closeMs - 1;
}

/** What the store, and a live tape, say of the market. */
export function minuteMarketSource({ from, session, rate, livePrice }: MinuteMarketOptions): MinuteMarketSource {
  const stored = new Map<string, PricePoint[]>();
  const yieldsBy = new Map<string, ReadonlyMap<string, number>>();
  const none: ReadonlyMap<string, number> = new Map();
  const before = previousTradingDay(session);
  const closeMs = regularSession(session)?.closeMs ?? Infinity;

  async function chainYieldsAt(underlying: string, asOfMs: number): Promise<ReadonlyMap<string, number>> {
    const chain = await chainCaptureAt(from, underlying, asOfMs);
    if (chain === null || (chain.sessionDate !== session && chain.sessionDate !== before)) return none;
    // Out of hours the price of the underlying and the quotes are not of one time.
    const hours = regularSession(chain.sessionDate);
    const isOpen = hours !== null && chain.capturedAt >= hours.openMs && chain.capturedAt < hours.closeMs;
    return isOpen ? chainYields(chain, rate) : none;
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
    async yields(tsMs, underlying) {
      const asOfMs = yieldsAsOf(session, tsMs);
      const key = `${underlying} ${asOfMs}`;
      let found = yieldsBy.get(key);
      if (!found) {
        found = await chainYieldsAt(underlying, asOfMs);
        yieldsBy.set(key, found);
      }
      return found;
    },
    closes: (contracts) => readLastOptionPrices(from, before, contracts),
  };
}
