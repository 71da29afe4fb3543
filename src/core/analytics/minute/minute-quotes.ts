import type { TradedContract } from '../../domain/chain/contract-book.ts';
import { type OptionQuote, priceUnits } from '../../domain/market/print.ts';

type QuoteNumbers = Pick<OptionQuote, 'tsMs' | 'tsNanos' | 'sequence' | 'bid' | 'ask'>;

/** A copy of a column of `length` numbers. */
function longer<T extends Float64Array | Int32Array>(column: T, length: number): T {
  const copy = new (column.constructor as new (length: number) => T)(length);
  copy.set(column);
  return copy;
}

/** The newest quote of each slot in one span of time. */
class NewestQuotes {
  #ms = new Float64Array(256).fill(-Infinity);
  #nanos = new Int32Array(256);
  #sequence = new Float64Array(256);
  #bid = new Float64Array(256);
  #ask = new Float64Array(256);

  has(slot: number): boolean {
    return slot < this.#ms.length && this.#ms[slot] !== -Infinity;
  }

  put(slot: number, quote: QuoteNumbers): void {
    if (slot >= this.#ms.length) this.#grow(slot);
    if (!this.#isNewer(slot, quote)) return;
    this.#ms[slot] = quote.tsMs;
    this.#nanos[slot] = quote.tsNanos;
    this.#sequence[slot] = quote.sequence;
    this.#bid[slot] = quote.bid;
    this.#ask[slot] = quote.ask;
  }

  at(slot: number): QuoteNumbers {
    return {
      tsMs: this.#ms[slot]!,
      tsNanos: this.#nanos[slot]!,
      sequence: this.#sequence[slot]!,
      bid: this.#bid[slot]!,
      ask: this.#ask[slot]!,
    };
  }

  forget(slot: number): void {
    this.#ms[slot] = -Infinity;
  }

  #grow(slot: number): void {
    const held = this.#ms.length;
    const length = Math.max(2 * held, slot + 1);
    this.#ms = longer(this.#ms, length).fill(-Infinity, held);
    this.#nanos = longer(this.#nanos, length);
    this.#sequence = longer(this.#sequence, length);
    this.#bid = longer(this.#bid, length);
    this.#ask = longer(this.#ask, length);
  }

  /** With equal instant and number the narrower quote stands, whichever came first. */
  #isNewer(slot: number, quote: QuoteNumbers): boolean {
    if (quote.tsMs !== this.#ms[slot]) return quote.tsMs > this.#ms[slot]!;
    if (quote.tsNanos !== this.#nanos[slot]) return quote.tsNanos > this.#nanos[slot]!;
    if (quote.sequence !== this.#sequence[slot]) return quote.sequence > this.#sequence[slot]!;
    if (quote.bid !== this.#bid[slot]) return quote.bid > this.#bid[slot]!;
    return quote.ask < this.#ask[slot]!;
  }
}

/**
 * 0 on a tape means no bid or no ask. An option without a bid is worth nothing to sell, so 0 is a bid; without an ask
 * there is no offer.
 */
const dollars = (units: number) => units / priceUnits;

/**
 * Each contract's quote in force at a minute's boundary. Memory holds two quotes of every contract that is quoted.
 */
export class MinuteQuotes {
  readonly #current = new NewestQuotes();
  readonly #later = new NewestQuotes();
  /** Indexes of the contracts with a later quote. */
  #waiting: number[] = [];
  #boundaryMs: number;

  /** No quotes yet; `boundaryMs` is the first boundary. */
  constructor(boundaryMs: number) {
    this.#boundaryMs = boundaryMs;
  }

  /** Takes a quote in, of before the boundary or of a time before the next one. */
  add(quote: OptionQuote): void {
    const { index } = quote.contract;
    if (quote.tsMs < this.#boundaryMs) {
      this.#current.put(index, quote);
      return;
    }
    if (!this.#later.has(index)) this.#waiting.push(index);
    this.#later.put(index, quote);
  }

  /** Goes on to the next boundary: what was later than the one before is in force there. */
  pass(nextMs: number): void {
    this.#boundaryMs = nextMs;
    for (const index of this.#waiting) {
      this.#current.put(index, this.#later.at(index));
      this.#later.forget(index);
    }
    this.#waiting = [];
  }

  /** Dollars a share; null ask = nothing is for sale; null for a contract without a quote. */
  inForce({ index }: TradedContract): { bid: number | null; ask: number | null; tsMs: number } | null {
    if (!this.#current.has(index)) return null;
    const { bid, ask, tsMs } = this.#current.at(index);
    return { bid: dollars(bid), ask: ask === 0 ? null : dollars(ask), tsMs };
  }
}
