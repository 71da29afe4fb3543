import type { TradedContract } from '../../domain/chain/contract-book.ts';
import { flowSides } from '../../domain/flow/flow.ts';
import { nanosBetween, type OptionQuote } from '../../domain/market/print.ts';
import { tapeSettings } from '../methodology.ts';
import { createReorder, doubleRing } from './reorder.ts';

/** Sides as small numbers: the index into `flowSides`. */
export const sideIndex = {
  buy: flowSides.indexOf('buy_inferred'),
  sell: flowSides.indexOf('sell_inferred'),
  neutral: flowSides.indexOf('neutral'),
  unknown: flowSides.indexOf('unknown'),
} as const;

/**
 * The aggressor's side, by the position of the price between bid and ask (methodology 3): from 0.6 of the spread up the
 * buyer, up to 0.4 the seller. In a locked market the price at it is neutral, any other beyond it. Unknown without an
 * ask (0) or in a crossed market. All arguments in one unit, integers, so that the bounds are exact. Returns an index
 * into `flowSides`.
 */
export function sideOf(price: number, bid: number, ask: number): number {
  if (ask <= 0 || bid < 0 || bid > ask) return sideIndex.unknown;
  const spread = ask - bid;
  if (spread === 0) return price > bid ? sideIndex.buy : price < bid ? sideIndex.sell : sideIndex.neutral;
  const tenths = (price - bid) * 10;
  if (tenths >= tapeSettings.buyFromTenths * spread) return sideIndex.buy;
  return tenths <= tapeSettings.sellToTenths * spread ? sideIndex.sell : sideIndex.neutral;
}

const maximumAgeNanos = tapeSettings.maximumSideQuoteAgeMs * 1e6;
/** Age from which a quote may be forgotten: no print within the lateness bound could still use it. */
const horizonMs = tapeSettings.latenessMs + tapeSettings.maximumSideQuoteAgeMs;

/**
 * Quotes by contract, for the sides of prints. They may arrive in any order; one that arrives after `release` has
 * passed its instant applies to later prints, not to earlier ones. At least the last half of `remembered` quotes are
 * known, and all of the lateness bound.
 */
export class QuoteBook {
  readonly #remembered: number;
  readonly #columns = {
    tsMs: new Float64Array(256),
    tsNanos: new Int32Array(256),
    sequence: new Float64Array(256),
    bid: new Float64Array(256),
    ask: new Float64Array(256),
    contract: new Int32Array(256),
    previous: new Int32Array(256),
  };
  #oldest = 0;
  #next = 0;
  #mask = 255;
  #releasedMs = -Infinity;
  #heads = new Int32Array(256).fill(-1);
  // The quote in force by contract outlives the ring, so a quiet contract's last quote stays known.
  #lastBid = new Float64Array(256);
  #lastAsk = new Float64Array(256);
  #lastMs = new Float64Array(256).fill(Number.NaN);
  readonly #waiting = createReorder((a, b) => this.#before(a, b));

  constructor(remembered: number = tapeSettings.rememberedQuotes) {
    this.#remembered = remembered;
  }

  /** Adds a quote; it counts once `release` has passed its instant. */
  add({ contract, bid, ask, tsMs, tsNanos, sequence }: OptionQuote): void {
    const columns = this.#columns;
    this.#ensureContract(contract.index);
    this.#makeRoom();
    const entry = this.#next++;
    const slot = entry & this.#mask;
    columns.tsMs[slot] = tsMs;
    columns.tsNanos[slot] = tsNanos;
    columns.sequence[slot] = sequence;
    columns.bid[slot] = bid;
    columns.ask[slot] = ask;
    columns.contract[slot] = contract.index;
    this.#waiting.push(entry);
  }

  /** Puts all quotes up to an instant, inclusive, in force. */
  release(tsMs: number, tsNanos: number): void {
    if (tsMs > this.#releasedMs) this.#releasedMs = tsMs;
    for (;;) {
      const entry = this.#waiting.peek();
      if (entry < 0) return;
      const slot = entry & this.#mask;
      const ms = this.#columns.tsMs[slot]!;
      if (ms > tsMs || (ms === tsMs && this.#columns.tsNanos[slot]! > tsNanos)) return;
      this.#apply(this.#waiting.shift());
    }
  }

  /**
   * The side of a print by the quote in force at its instant, including a quote of that instant; an index into
   * `flowSides`.
   */
  sideAt({ index }: TradedContract, price: number, tsMs: number, tsNanos: number): number {
    const columns = this.#columns;
    if (index >= this.#heads.length) return sideIndex.unknown;
    for (let entry = this.#heads[index]!; entry >= this.#oldest; entry = columns.previous[entry & this.#mask]!) {
      const slot = entry & this.#mask;
      const age = nanosBetween(columns.tsMs[slot]!, columns.tsNanos[slot]!, tsMs, tsNanos);
      if (age < 0) continue;
      if (age > maximumAgeNanos) return sideIndex.unknown;
      return sideOf(price, columns.bid[slot]!, columns.ask[slot]!);
    }
    return sideIndex.unknown;
  }

  /** Best bid and ask in force, 1e-4 dollars, at the released instant; null if there was none. */
  latest({ index }: TradedContract): { bid: number; ask: number; tsMs: number } | null {
    if (index >= this.#heads.length || Number.isNaN(this.#lastMs[index]!)) return null;
    return { bid: this.#lastBid[index]!, ask: this.#lastAsk[index]!, tsMs: this.#lastMs[index]! };
  }

  #before(a: number, b: number): boolean {
    const columns = this.#columns;
    const [i, j] = [a & this.#mask, b & this.#mask];
    if (columns.tsMs[i] !== columns.tsMs[j]) return columns.tsMs[i]! < columns.tsMs[j]!;
    if (columns.tsNanos[i] !== columns.tsNanos[j]) return columns.tsNanos[i]! < columns.tsNanos[j]!;
    if (columns.sequence[i] !== columns.sequence[j]) return columns.sequence[i]! < columns.sequence[j]!;
    // Among a contract's quotes with equal instant and number the last applied wins: the narrower one.
    if (columns.bid[i] !== columns.bid[j]) return columns.bid[i]! < columns.bid[j]!;
    return columns.ask[i]! > columns.ask[j]!;
  }

  #ensureContract(index: number) {
    if (index < this.#heads.length) return;
    const length = Math.max(this.#heads.length * 2, index + 1);
    const longer = { heads: new Int32Array(length).fill(-1), ms: new Float64Array(length).fill(Number.NaN) };
    longer.heads.set(this.#heads);
    longer.ms.set(this.#lastMs);
    [this.#heads, this.#lastMs] = [longer.heads, longer.ms];
    const [bids, asks] = [new Float64Array(length), new Float64Array(length)];
    bids.set(this.#lastBid);
    asks.set(this.#lastAsk);
    [this.#lastBid, this.#lastAsk] = [bids, asks];
  }

  #apply(entry: number) {
    const columns = this.#columns;
    const contract = columns.contract[entry & this.#mask]!;
    const head = this.#heads[contract]!;
    if (head < this.#oldest || !this.#before(entry, head)) {
      columns.previous[entry & this.#mask] = head;
      this.#heads[contract] = entry;
      this.#lastBid[contract] = columns.bid[entry & this.#mask]!;
      this.#lastAsk[contract] = columns.ask[entry & this.#mask]!;
      this.#lastMs[contract] = columns.tsMs[entry & this.#mask]!;
      return;
    }
    let later = head;
    let earlier = columns.previous[later & this.#mask]!;
    while (earlier >= this.#oldest && this.#before(entry, earlier)) {
      later = earlier;
      earlier = columns.previous[earlier & this.#mask]!;
    }
    columns.previous[later & this.#mask] = entry;
    columns.previous[entry & this.#mask] = earlier;
  }

  #makeRoom() {
    const columns = this.#columns;
    if (this.#next - this.#oldest <= this.#mask) return;
    const half = (this.#mask + 1) >> 1;
    // Quotes this far behind the release are in force: no waiting quote is forgotten.
    if (this.#mask + 1 >= this.#remembered)
      while (
        this.#next - this.#oldest > half &&
        columns.tsMs[this.#oldest & this.#mask]! < this.#releasedMs - horizonMs
      )
        this.#oldest++;
    // Forgetting a few at a time would run for every quote: with less than half free the ring grows.
    if (this.#next - this.#oldest <= half) return;
    doubleRing(columns, this.#oldest, this.#next);
    this.#mask = columns.tsMs.length - 1;
  }
}
