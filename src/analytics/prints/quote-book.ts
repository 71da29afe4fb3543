import type { TradedContract } from '../../domain/chain/contract-book.ts';
import { nanosBetween, type OptionQuote } from '../../domain/print.ts';
import { tapeSettings } from '../methodology.ts';
import { createReorder } from './reorder.ts';
import { doubleRing } from './ring.ts';
import { sideIndex, sideOf } from './side.ts';

/** Quotes by contract in event time, as far back as a print may ask. */
export interface QuoteBook {
  /** Takes a quote in; it counts once `release` has passed its instant. */
  add(quote: OptionQuote): void;
  /** Puts every quote up to and with an instant in force. */
  release(tsMs: number, tsNanos: number): void;
  /**
   * The side of a print by the quote in force at its instant, a quote of that instant included; an index into
   * `flowSides`.
   */
  sideAt(contract: TradedContract, price: number, tsMs: number, tsNanos: number): number;
  /** Best bid and ask in force, 1e-4 dollars, at what is released; null when there was none. */
  latest(contract: TradedContract): { bid: number; ask: number; tsMs: number } | null;
}

const maximumAgeNanos = tapeSettings.maximumSideQuoteAgeMs * 1e6;
/**
 * A quote older than this is forgotten when there is no room: no print within the lateness bound could still be sided
 * by it.
 */
const horizonMs = tapeSettings.latenessMs + tapeSettings.maximumSideQuoteAgeMs;

/**
 * An empty quote book. Quotes may come in any order; one that comes after `release` has passed its instant sides the
 * prints that come after it, not those before. At least the last half of `remembered` quotes are known, and all of the
 * lateness bound.
 */
export function createQuoteBook(remembered: number = tapeSettings.rememberedQuotes): QuoteBook {
  const columns = {
    tsMs: new Float64Array(256),
    tsNanos: new Int32Array(256),
    sequence: new Float64Array(256),
    bid: new Float64Array(256),
    ask: new Float64Array(256),
    contract: new Int32Array(256),
    previous: new Int32Array(256),
  };
  let oldest = 0;
  let next = 0;
  let mask = 255;
  let releasedMs = -Infinity;
  let heads = new Int32Array(256).fill(-1);
  // The quote in force by contract outlives the ring: a quiet contract's last quote stays known.
  let lastBid = new Float64Array(256);
  let lastAsk = new Float64Array(256);
  let lastMs = new Float64Array(256).fill(Number.NaN);

  function before(a: number, b: number): boolean {
    const [i, j] = [a & mask, b & mask];
    if (columns.tsMs[i] !== columns.tsMs[j]) return columns.tsMs[i]! < columns.tsMs[j]!;
    if (columns.tsNanos[i] !== columns.tsNanos[j]) return columns.tsNanos[i]! < columns.tsNanos[j]!;
    if (columns.sequence[i] !== columns.sequence[j]) return columns.sequence[i]! < columns.sequence[j]!;
    // Among a contract's quotes with equal instant and number the last to be applied would decide: let it be the
    // narrower one.
    if (columns.bid[i] !== columns.bid[j]) return columns.bid[i]! < columns.bid[j]!;
    return columns.ask[i]! > columns.ask[j]!;
  }
  const waiting = createReorder(before);

  function ensureContract(index: number) {
    if (index < heads.length) return;
    const length = Math.max(heads.length * 2, index + 1);
    const longer = { heads: new Int32Array(length).fill(-1), ms: new Float64Array(length).fill(Number.NaN) };
    longer.heads.set(heads);
    longer.ms.set(lastMs);
    [heads, lastMs] = [longer.heads, longer.ms];
    const [bids, asks] = [new Float64Array(length), new Float64Array(length)];
    bids.set(lastBid);
    asks.set(lastAsk);
    [lastBid, lastAsk] = [bids, asks];
  }

  function apply(entry: number) {
    const contract = columns.contract[entry & mask]!;
    const head = heads[contract]!;
    if (head < oldest || !before(entry, head)) {
      columns.previous[entry & mask] = head;
      heads[contract] = entry;
      lastBid[contract] = columns.bid[entry & mask]!;
      lastAsk[contract] = columns.ask[entry & mask]!;
      lastMs[contract] = columns.tsMs[entry & mask]!;
      return;
    }
    let later = head;
    let earlier = columns.previous[later & mask]!;
    while (earlier >= oldest && before(entry, earlier)) {
      later = earlier;
      earlier = columns.previous[earlier & mask]!;
    }
    columns.previous[later & mask] = entry;
    columns.previous[entry & mask] = earlier;
  }

  function makeRoom() {
    if (next - oldest <= mask) return;
    const half = (mask + 1) >> 1;
    // Quotes so far behind the release have been put in force: nothing that waits is forgotten.
    if (mask + 1 >= remembered)
      while (next - oldest > half && columns.tsMs[oldest & mask]! < releasedMs - horizonMs) oldest++;
    // Forgetting a few at a time would be asked for at every quote: with less than half free the ring grows.
    if (next - oldest <= half) return;
    doubleRing(columns, oldest, next);
    mask = columns.tsMs.length - 1;
  }

  return {
    add({ contract, bid, ask, tsMs, tsNanos, sequence }) {
      ensureContract(contract.index);
      makeRoom();
      const entry = next++;
      const slot = entry & mask;
      columns.tsMs[slot] = tsMs;
      columns.tsNanos[slot] = tsNanos;
      columns.sequence[slot] = sequence;
      columns.bid[slot] = bid;
      columns.ask[slot] = ask;
      columns.contract[slot] = contract.index;
      waiting.push(entry);
    },
    release(tsMs, tsNanos) {
      if (tsMs > releasedMs) releasedMs = tsMs;
      for (;;) {
        const entry = waiting.peek();
        if (entry < 0) return;
        const slot = entry & mask;
        const ms = columns.tsMs[slot]!;
        if (ms > tsMs || (ms === tsMs && columns.tsNanos[slot]! > tsNanos)) return;
        apply(waiting.shift());
      }
    },
    sideAt({ index }, price, tsMs, tsNanos) {
      if (index >= heads.length) return sideIndex.unknown;
      for (let entry = heads[index]!; entry >= oldest; entry = columns.previous[entry & mask]!) {
        const slot = entry & mask;
        const age = nanosBetween(columns.tsMs[slot]!, columns.tsNanos[slot]!, tsMs, tsNanos);
        if (age < 0) continue;
        if (age > maximumAgeNanos) return sideIndex.unknown;
        return sideOf(price, columns.bid[slot]!, columns.ask[slot]!);
      }
      return sideIndex.unknown;
    },
    latest({ index }) {
      if (index >= heads.length || Number.isNaN(lastMs[index]!)) return null;
      return { bid: lastBid[index]!, ask: lastAsk[index]!, tsMs: lastMs[index]! };
    },
  };
}
