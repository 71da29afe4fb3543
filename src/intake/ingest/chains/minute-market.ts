import { chainGroups } from '../../../core/analytics/minute/solve.ts';
import type { KnownGroups } from '../../../core/analytics/pricing/group-market.ts';
import type { MarketReference } from '../../../core/analytics/pricing/group-rate.ts';
import { previousTradingDay, regularSession } from '../../../core/domain/calendar.ts';
import { sourceTime } from '../../../core/domain/chain/chain.ts';
import type { OptionRoots } from '../../../core/domain/chain/option-root.ts';
import type { SessionDate } from '../../../core/domain/market-time.ts';
import { hourMs } from '../../../platform/runtime/clock.ts';
import { chainCaptureAt } from '../../../store/chain/chain-captures.ts';
import { type PricePoint, readLastOptionPrices, readPrices } from '../../../store/chain/minute-market.ts';
import type { Reader } from '../../../store/rows/reader.ts';
import { readReference } from './market-reference.ts';

export interface MinuteMarketOptions {
  from: Reader;
  session: SessionDate;
  rate: number;
  roots: OptionRoots;
  /** The last price of an underlying before a boundary on a live tape; absent: the store is read, once per session. */
  livePrice?: (underlying: string, beforeMs: number) => PricePoint | null;
}

/** The last of the ascending points that was known at an instant. */
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
 * Latest time of the chain whose rates and yields are used at an instant: the full hour before it, since they change
 * slowly; before the session's first full hour the end of the session before.
 */
function groupsAsOf(session: SessionDate, tsMs: number): number {
  const hour = tsMs - (tsMs % hourMs);
  if (hour > regularSession(session)!.openMs) return hour;
  return regularSession(previousTradingDay(session))!.closeMs - 1;
}

const noGroups: KnownGroups = new Map();

/** Sources of minute solves beside the option tape: the market according to the store and a live tape. */
export class MinuteMarketSource {
  readonly #options: MinuteMarketOptions;
  /** The session before. */
  readonly #before: SessionDate;
  readonly #closeMs: number;
  /** Prices of the whole session by underlying, if no live tape gives them. */
  readonly #prices = new Map<string, PricePoint[]>();
  /** By underlying and the instant that they hold at. */
  readonly #groups = new Map<string, KnownGroups>();
  readonly #references = new Map<string, MarketReference>();

  constructor(options: MinuteMarketOptions) {
    this.#options = options;
    this.#before = previousTradingDay(options.session);
    this.#closeMs = regularSession(options.session)?.closeMs ?? Infinity;
  }

  /** The price of each underlying at a boundary, dollars; one without is absent. */
  async spots(tsMs: number, underlyings: readonly string[]): Promise<Map<string, number>> {
    const { livePrice } = this.#options;
    const live = new Map(underlyings.map((underlying) => [underlying, livePrice?.(underlying, tsMs) ?? null]));
    const asked = underlyings.filter((underlying) => live.get(underlying)?.tsMs !== tsMs);
    // The store may hold a print that the tape has withdrawn since.
    const barsOf = asked.filter((underlying) => live.get(underlying) === null);
    const stored = await this.#storedPrices(tsMs, asked, barsOf);
    const spots = new Map<string, number>();
    for (const underlying of underlyings) {
      const own = live.get(underlying)!;
      const other = lastAt(stored.get(underlying) ?? [], tsMs);
      const point = own === null || (other !== null && other.tsMs > own.tsMs) ? other : own;
      if (point !== null) spots.set(underlying, point.price);
    }
    return spots;
  }

  /** The curve and the dividends of an underlying in the session. */
  async reference(underlying: string): Promise<MarketReference> {
    const { from, session, rate } = this.#options;
    const known = this.#references.get(underlying);
    if (known) return known;
    const reference = await readReference(from, { underlying, sessionDate: session }, rate);
    this.#references.set(underlying, reference);
    return reference;
  }

  /** Pricing inputs of an underlying's chain that holds at a boundary, by `root expiry`; empty without one. */
  async groups(tsMs: number, underlying: string): Promise<KnownGroups> {
    const asOfMs = groupsAsOf(this.#options.session, tsMs);
    const key = `${underlying} ${asOfMs}`;
    const known = this.#groups.get(key);
    if (known) return known;
    const groups = await this.#chainGroupsAt(underlying, asOfMs);
    this.#groups.set(key, groups);
    return groups;
  }

  /** Prices of contracts in the session before; one without is absent. */
  closes(contracts: readonly { underlying: string; contract: string }[]): Promise<Map<string, number>> {
    return readLastOptionPrices(this.#options.from, this.#before, contracts);
  }

  /** Stored prices: beside a live tape those up to a boundary, else those of the session, which are read once. */
  async #storedPrices(
    tsMs: number,
    underlyings: readonly string[],
    barsOf: readonly string[],
  ): Promise<ReadonlyMap<string, readonly PricePoint[]>> {
    const { from, session, livePrice } = this.#options;
    if (livePrice && underlyings.length === 0) return new Map();
    if (livePrice) return readPrices(from, { session, underlyings, throughMs: tsMs, barsOf });
    const missing = underlyings.filter((underlying) => !this.#prices.has(underlying));
    if (missing.length > 0) {
      const read = await readPrices(from, { session, underlyings: missing, throughMs: this.#closeMs });
      for (const [underlying, points] of read) this.#prices.set(underlying, points);
    }
    return this.#prices;
  }

  async #chainGroupsAt(underlying: string, asOfMs: number): Promise<KnownGroups> {
    const { from, session, rate, roots } = this.#options;
    const chain = await chainCaptureAt(from, underlying, asOfMs);
    if (chain === null || (chain.sessionDate !== session && chain.sessionDate !== this.#before)) return noGroups;
    // Out of hours the price of the underlying and the quotes are not of one time.
    const hours = regularSession(chain.sessionDate);
    const quotedAt = sourceTime(chain);
    const isOpen = hours !== null && quotedAt >= hours.openMs && quotedAt < hours.closeMs;
    return isOpen ? chainGroups(chain, { ...(await readReference(from, chain, rate)), roots }) : noGroups;
  }
}
