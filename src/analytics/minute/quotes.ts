import type { TradedContract } from '../../domain/chain/contract-book.ts';
import { type OptionQuote, priceUnits } from '../../domain/market/print.ts';

/** Each contract's quote in force at a minute's boundary. */
export interface MinuteQuotes {
  /** Takes a quote in, of before the boundary or of a time before the next one. */
  add(quote: OptionQuote): void;
  /** Goes on to the next boundary: what was later than the one before is in force there. */
  pass(nextMs: number): void;
  /** Dollars a share; null ask = nothing is for sale; null for a contract without a quote. */
  inForce(contract: TradedContract): { bid: number | null; ask: number | null; tsMs: number } | null;
}

/** The newest quote of each slot in one span of time. */
function createNewest() {
  let ms = new Float64Array(256).fill(-Infinity);
  let nanos = new Int32Array(256);
  let sequence = new Float64Array(256);
  let bid = new Float64Array(256);
  let ask = new Float64Array(256);

  function longer<T extends Float64Array | Int32Array>(column: T, length: number): T {
    const copy = new (column.constructor as new (length: number) => T)(length);
    copy.set(column);
    return copy;
  }
  function ensure(slot: number) {
    if (slot < ms.length) return;
    const [length, held] = [Math.max(2 * ms.length, slot + 1), ms.length];
    ms = longer(ms, length).fill(-Infinity, held);
    nanos = longer(nanos, length);
    sequence = longer(sequence, length);
    [bid, ask] = [longer(bid, length), longer(ask, length)];
  }
  /** With equal instant and number the narrower quote stands, whichever came first. */
  function isNewer(slot: number, quote: Pick<OptionQuote, 'tsMs' | 'tsNanos' | 'sequence' | 'bid' | 'ask'>): boolean {
    if (quote.tsMs !== ms[slot]) return quote.tsMs > ms[slot]!;
    if (quote.tsNanos !== nanos[slot]) return quote.tsNanos > nanos[slot]!;
    if (quote.sequence !== sequence[slot]) return quote.sequence > sequence[slot]!;
    if (quote.bid !== bid[slot]) return quote.bid > bid[slot]!;
    return quote.ask < ask[slot]!;
  }
  return {
    has: (slot: number) => slot < ms.length && ms[slot] !== -Infinity,
    put(slot: number, quote: Pick<OptionQuote, 'tsMs' | 'tsNanos' | 'sequence' | 'bid' | 'ask'>) {
      ensure(slot);
      if (!isNewer(slot, quote)) return;
      ms[slot] = quote.tsMs;
      nanos[slot] = quote.tsNanos;
      sequence[slot] = quote.sequence;
      bid[slot] = quote.bid;
      ask[slot] = quote.ask;
    },
    at: (slot: number) => ({
      tsMs: ms[slot]!,
      tsNanos: nanos[slot]!,
      sequence: sequence[slot]!,
      bid: bid[slot]!,
      ask: ask[slot]!,
    }),
    forget(slot: number) {
      ms[slot] = -Infinity;
    },
  };
}

/**
 * 0 on a tape means no bid or no ask. An option without a bid sells for nothing, so 0 is a bid; without an ask nothing
 * is for sale.
 */
const dollars = (units: number) => units / priceUnits;

/** No quotes yet; `boundaryMs` is the first boundary. Memory holds two quotes of every contract that is quoted. */
export function createMinuteQuotes(boundaryMs: number): MinuteQuotes {
  const current = createNewest();
  const later = createNewest();
  let waiting: number[] = [];
  let boundary = boundaryMs;
  return {
    add(quote) {
      const { index } = quote.contract;
      if (quote.tsMs < boundary) {
        current.put(index, quote);
        return;
      }
      if (!later.has(index)) waiting.push(index);
      later.put(index, quote);
    },
    pass(nextMs) {
      boundary = nextMs;
      for (const index of waiting) {
        current.put(index, later.at(index));
        later.forget(index);
      }
      waiting = [];
    },
    inForce({ index }) {
      if (!current.has(index)) return null;
      const { bid, ask, tsMs } = current.at(index);
      return { bid: dollars(bid), ask: ask === 0 ? null : dollars(ask), tsMs };
    },
  };
}
