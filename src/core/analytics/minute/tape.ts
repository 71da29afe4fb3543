import { minuteMs } from '../../../platform/runtime/clock.ts';
import { regularSession } from '../../domain/calendar.ts';
import type { TradedContract } from '../../domain/chain/contract-book.ts';
import { optionTraits, optionTraitsOf } from '../../domain/flow/option-trade-conditions.ts';
import {
  correctionMessage,
  isWithdrawn,
  type OptionPrint,
  type OptionQuote,
  priceUnits,
} from '../../domain/market/print.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import { methodologySettings, tapeSettings } from '../methodology.ts';
import { createReorder, doubleRing } from '../prints/reorder.ts';
import type { FollowedContract } from './solve.ts';

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
class MinuteQuotes {
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

const [stands, setsNoLast, cancelled] = [0, 1, 2];

/**
 * A contract's last trades in event time, as far back as they may give a mark. Memory holds a quarter of an hour of
 * prints, and a number per contract.
 */
export class MinutePrints {
  readonly #columns = {
    tsMs: new Float64Array(512),
    tsNanos: new Int32Array(512),
    sequence: new Float64Array(512),
    contract: new Int32Array(512),
    price: new Uint32Array(512),
    size: new Int32Array(512),
    exchange: new Uint16Array(512),
    traits: new Uint8Array(512),
    state: new Uint8Array(512),
    previous: new Int32Array(512),
  };
  readonly #contracts: TradedContract[] = [];
  #heads = new Int32Array(256).fill(-1);
  #oldest = 0;
  #next = 0;
  #mask = 511;
  readonly #waiting = createReorder((a, b) => this.#before(a, b));

  /** Adds a print; it counts once `pass` has passed its instant. */
  add({ contract, tsMs, tsNanos, sequence, price, size, exchange, conditions, correction }: OptionPrint): void {
    const columns = this.#columns;
    const traits = optionTraitsOf(conditions);
    const isOut = (traits & optionTraits.compression) !== 0 || isWithdrawn(correction);
    if (isOut || correction === correctionMessage) return;
    const { index } = contract;
    if (index >= this.#heads.length) {
      const longer = new Int32Array(Math.max(2 * this.#heads.length, index + 1)).fill(-1);
      longer.set(this.#heads);
      this.#heads = longer;
    }
    this.#contracts[index] = contract;
    this.#makeRoom();
    const entry = this.#next++;
    const slot = entry & this.#mask;
    columns.tsMs[slot] = tsMs;
    columns.tsNanos[slot] = tsNanos;
    columns.sequence[slot] = sequence;
    columns.contract[slot] = index;
    columns.price[slot] = price;
    columns.size[slot] = size;
    columns.exchange[slot] = exchange;
    columns.traits[slot] = traits;
    columns.previous[slot] = -1;
    this.#waiting.push(entry);
  }

  /** Makes everything before an instant count; traded contracts are reported in order, each time they trade. */
  pass(beforeMs: number, traded: (contract: TradedContract) => void): void {
    for (let entry = this.#waiting.peek(); entry >= 0; entry = this.#waiting.peek()) {
      if (this.#columns.tsMs[entry & this.#mask]! >= beforeMs) break;
      this.#take(this.#waiting.shift(), traded);
    }
    // An older print gives no mark any more, and its cancel changes none.
    const since = beforeMs - methodologySettings.maximumTradeAgeMs;
    while (this.#oldest < this.#next && this.#columns.tsMs[this.#oldest & this.#mask]! < since) this.#oldest++;
  }

  /** The last valid trade that may set a last price; null if it is too old for a mark, or there was none. */
  last({ index }: TradedContract): { price: number; tsMs: number } | null {
    const columns = this.#columns;
    if (index >= this.#heads.length) return null;
    for (let n = this.#heads[index]!; n >= this.#oldest; n = this.#previousOf(n)) {
      const slot = n & this.#mask;
      if (columns.state[slot] === stands)
        return { price: columns.price[slot]! / priceUnits, tsMs: columns.tsMs[slot]! };
    }
    return null;
  }

  /** Event-time order as in the tape engine: indices depend on the order of arrival, ids do not. */
  #before(a: number, b: number): boolean {
    const columns = this.#columns;
    const [i, j] = [a & this.#mask, b & this.#mask];
    if (columns.tsMs[i] !== columns.tsMs[j]) return columns.tsMs[i]! < columns.tsMs[j]!;
    if (columns.tsNanos[i] !== columns.tsNanos[j]) return columns.tsNanos[i]! < columns.tsNanos[j]!;
    if (columns.sequence[i] !== columns.sequence[j]) return columns.sequence[i]! < columns.sequence[j]!;
    if (columns.contract[i] !== columns.contract[j])
      return this.#contracts[columns.contract[i]!]!.id < this.#contracts[columns.contract[j]!]!.id;
    return columns.exchange[i]! < columns.exchange[j]!;
  }

  #previousOf(entry: number): number {
    return this.#columns.previous[entry & this.#mask]!;
  }

  /** True if another record of the same print counts already. */
  #isRepeated(entry: number, index: number): boolean {
    const slot = entry & this.#mask;
    for (
      let n = this.#heads[index]!;
      n >= this.#oldest && this.#columns.tsMs[n & this.#mask]! >= this.#columns.tsMs[slot]!;
      n = this.#previousOf(n)
    )
      if (!this.#before(n, entry) && !this.#before(entry, n)) return true;
    return false;
  }

  #link(entry: number, index: number) {
    const columns = this.#columns;
    const head = this.#heads[index]!;
    if (head < this.#oldest || !this.#before(entry, head)) {
      columns.previous[entry & this.#mask] = head;
      this.#heads[index] = entry;
      return;
    }
    // Later than the lateness bound: it is at its position from now on.
    let later = head;
    while (this.#previousOf(later) >= this.#oldest && this.#before(entry, this.#previousOf(later)))
      later = this.#previousOf(later);
    columns.previous[entry & this.#mask] = this.#previousOf(later);
    columns.previous[later & this.#mask] = entry;
  }

  #cancel(entry: number, index: number) {
    const columns = this.#columns;
    const slot = entry & this.#mask;
    for (let n = this.#heads[index]!; n >= this.#oldest; n = this.#previousOf(n)) {
      const other = n & this.#mask;
      const same =
        columns.price[other] === columns.price[slot] &&
        columns.size[other] === columns.size[slot] &&
        columns.exchange[other] === columns.exchange[slot];
      if (!same || columns.state[other] === cancelled || this.#before(entry, n)) continue;
      columns.state[other] = cancelled;
      return;
    }
  }

  #take(entry: number, traded: (contract: TradedContract) => void) {
    const columns = this.#columns;
    const slot = entry & this.#mask;
    const index = columns.contract[slot]!;
    if (this.#isRepeated(entry, index)) return;
    const traits = columns.traits[slot]!;
    if ((traits & optionTraits.cancel) !== 0) {
      this.#cancel(entry, index);
      // It stays among the others, to detect repetitions.
      columns.state[slot] = cancelled;
      this.#link(entry, index);
      return;
    }
    columns.state[slot] = (traits & optionTraits.openClose) !== 0 ? stands : setsNoLast;
    this.#link(entry, index);
    traded(this.#contracts[index]!);
  }

  #makeRoom() {
    if (this.#next - this.#oldest <= this.#mask) return;
    doubleRing(this.#columns, this.#oldest, this.#next);
    this.#mask = this.#columns.tsMs.length - 1;
  }
}

/** A followed contract with its data on the tape. */
export type TapedContract = Omit<FollowedContract, 'previousClose'> & { traded: TradedContract };

/** The tape at a minute's boundary, by underlying: contracts in the order in which they began to be followed. */
interface TapedMinute {
  tsMs: number;
  underlyings: ReadonlyMap<string, readonly TapedContract[]>;
}

interface MinuteTapeOptions {
  session: SessionDate;
  /** True if a contract must be followed once it trades. */
  follows(contract: TradedContract): boolean;
  /** Maximum number of followed contracts per underlying, the first to trade. */
  most?: number | undefined;
}

/**
 * The part of a session's option tape that its minute solves read. It follows from the tape alone, in any order within
 * the lateness bound. Its boundaries are the minutes after the open up to and with the close; none when the session
 * does not trade.
 */
export class MinuteTape {
  readonly #follows: (contract: TradedContract) => boolean;
  readonly #most: number;
  readonly #closeMs: number;
  #nextMs: number;
  readonly #quotes: MinuteQuotes;
  readonly #prints = new MinutePrints();
  /** By underlying. */
  readonly #followed = new Map<string, TradedContract[]>();
  readonly #full = new Set<string>();
  // By contract index: whether it has been looked at.
  readonly #met: boolean[] = [];

  constructor({ session, follows, most = tapeSettings.solvedContracts }: MinuteTapeOptions) {
    const { openMs, closeMs } = regularSession(session) ?? { openMs: Infinity, closeMs: -Infinity };
    this.#follows = follows;
    this.#most = most;
    this.#closeMs = closeMs;
    this.#nextMs = openMs + minuteMs;
    this.#quotes = new MinuteQuotes(this.#nextMs);
  }

  /** Event time from which on the next boundary may be taken: all before it has come. Infinity after the close. */
  get dueMs(): number {
    return this.#nextMs <= this.#closeMs ? this.#nextMs + tapeSettings.latenessMs : Infinity;
  }

  /** The next boundary. */
  get nextMs(): number {
    return this.#nextMs;
  }

  /** Underlyings with more contracts that trade than are followed. */
  get full(): ReadonlySet<string> {
    return this.#full;
  }

  /** Takes a print in; none of `dueMs` or later before the boundary was taken. */
  print(print: OptionPrint): void {
    this.#prints.add(print);
  }

  /** Takes a quote in, as `print` does. */
  quote(quote: OptionQuote): void {
    this.#quotes.add(quote);
  }

  /** The next boundary, as of its instant. */
  take(): TapedMinute {
    const tsMs = this.#nextMs;
    this.#meetTraded();
    const underlyings = new Map(
      [...this.#followed].map(([symbol, contracts]) => [symbol, contracts.map((each) => this.#taped(each))]),
    );
    this.#goOn();
    return { tsMs, underlyings };
  }

  /** The same, when nothing is asked for but to go on. */
  skipBoundary(): void {
    this.#meetTraded();
    this.#goOn();
  }

  /** Follows the contracts that traded before the boundary. */
  #meetTraded(): void {
    this.#prints.pass(this.#nextMs, (contract) => this.#meet(contract));
  }

  #meet(contract: TradedContract): void {
    if (this.#met[contract.index]) return;
    this.#met[contract.index] = true;
    if (!this.#follows(contract)) return;
    const { symbol } = contract.underlying;
    let list = this.#followed.get(symbol);
    if (!list) {
      list = [];
      this.#followed.set(symbol, list);
    }
    if (list.length < this.#most) list.push(contract);
    else this.#full.add(symbol);
  }

  #taped(traded: TradedContract): TapedContract {
    const trade = this.#prints.last(traded);
    return {
      traded,
      contract: traded.contract,
      quote: this.#quotes.inForce(traded),
      trade: trade && { ...trade, eligible: true },
    };
  }

  #goOn(): void {
    this.#nextMs += minuteMs;
    this.#quotes.pass(this.#nextMs);
  }
}
