import { tradeSpan } from '../../domain/calendar.ts';
import { type StoredTimeframe, type Timeframe, timeframeMs } from '../../domain/market/bar.ts';
import { listingExchangeOfTape } from '../../domain/market/exchanges.ts';
import {
  correctedTrade,
  correctionMessage,
  isWithdrawnTrade,
  priceUnits,
  type StockPrint,
} from '../../domain/market/print.ts';
import { stockTraits } from '../../domain/market/stock-trade-conditions.ts';
import { exchangeInstant, type SessionDate } from '../../domain/market-time.ts';
import { completeThrough, createStockSeconds, type StockSeconds } from '../bars/stock-bars-from-prints.ts';
import { tapeSettings } from '../methodology.ts';
import { emptyTally, type OffExchangeTally, tallyPrint } from '../offexchange/activity.ts';
import { collides, isRepeated, mayWithdraw, sameVenue, standingRecord } from '../prints/corrections.ts';
import { exactValue } from '../prints/exact-sum.ts';
import { recordRole, type StockColumns, StockLedger } from '../prints/stock-ledger.ts';
import type { PriceTape } from './index-tape.ts';
import {
  type CloseCandidate,
  closeCandidate,
  closingsOf,
  mayBeClose,
  officialCloseOf,
  withClosings,
  withOfficialClose,
} from './official-close.ts';

export interface StockTapeOptions {
  /** Prints of another trade date are counted and omitted. */
  session: SessionDate;
  /**
   * Number of remembered prints; `tapeSettings.rememberedPrints` if absent. A correction of a forgotten print has no
   * effect.
   */
  remembered?: number;
  /** True if Form T prints of extended hours form the prices of bars, but not of the day's. */
  extendedBars?: boolean;
}

/** Counts of prints by outcome. */
export interface StockTapeCounts {
  prints: number;
  /** Prints of a new trade. */
  trades: number;
  /** Records that repeat one with their id. */
  duplicates: number;
  /** Prints of a venue whose ids collide that another file has too. */
  copies: number;
  /** Records that withdrew or replaced another, or were replaced. */
  corrections: number;
  otherSession: number;
}

/** Prints of an exchange and facility whose ids do not identify them. */
interface UnnamedVenue {
  /** Corrected trades without a correction message so far, and messages that came before their corrected trades. */
  corrected: number[];
  early: number;
  /** Messages that withdraw a print which has not come. */
  unmatched: number[];
}

/** A trade that a collision of ids revealed (1) or took back (−1). */
export interface RevisedTrade extends Pick<StockPrint, 'tsMs' | 'tsNanos' | 'exchange' | 'trf' | 'id'> {
  sign: 1 | -1;
}

type Turn = (entry: number, on: boolean) => void;

/** State of a symbol. */
interface SymbolState {
  index: number;
  symbol: string;
  seconds: StockSeconds;
  tally: OffExchangeTally;
  /** The newest entry by arrival, and the last in event time that sets a close; −1 = none. */
  head: number;
  last: number;
  /** The first second changed since the last call; Infinity = none. */
  changedFromMs: number;
  closes: Map<number, CloseCandidate>;
  /** The tape in its prints, 0 while none has one. */
  tape: number;
  /** Venues whose ids collide, by `venueOf`; null = none. */
  unnamed: Map<number, UnnamedVenue> | null;
}

const venueOf = (exchange: number, trf: number) => exchange * 65_536 + trf;

/**
 * One session's stock tape: from prints to bars and off-exchange figures. The result depends on the prints alone, not
 * on their order. Memory is bounded by the remembered prints and the seconds in which symbols trade.
 */
export class StockTape implements PriceTape {
  readonly counts: StockTapeCounts = {
    prints: 0,
    trades: 0,
    duplicates: 0,
    copies: 0,
    corrections: 0,
    otherSession: 0,
  };
  /** Changes of earlier prints by the last print; empty unless it showed that ids collide. */
  revised: RevisedTrade[] = [];
  readonly #session: SessionDate;
  readonly #extendedBars: boolean;
  readonly #startMs: number;
  readonly #endMs: number;
  readonly #ledger: StockLedger;
  readonly #columns: StockColumns;
  readonly #states = new Map<string, SymbolState>();
  // Records moved to another record's position in time, with their own position.
  readonly #moved = new Map<number, number>();
  #latestState: SymbolState | null = null;
  #reachedMs = -Infinity;
  #unnamedPrints = 0;

  constructor({ session, remembered = tapeSettings.rememberedPrints, extendedBars = false }: StockTapeOptions) {
    const { fromMs, toMs } = tradeSpan(session);
    this.#session = session;
    this.#extendedBars = extendedBars;
    this.#startMs = fromMs;
    this.#endMs = toMs;
    this.#ledger = new StockLedger(remembered);
    this.#columns = this.#ledger.columns;
  }

  /** The latest instant so far, epoch ms. */
  get reachedMs(): number {
    return this.#reachedMs;
  }

  /**
   * Takes a print of a file; the object may be reused afterwards. True if it is of a new trade. Ids identify the prints
   * of a symbol at a venue until two prints have one id and differ. From then on equal prints are only the same print
   * if they are of different files: the n-th of one is the n-th of the other.
   */
  print(print: StockPrint, file = 0): boolean {
    if (this.revised.length > 0) this.revised = [];
    if (print.tsMs < this.#startMs || print.tsMs >= this.#endMs) {
      this.counts.otherSession++;
      return false;
    }
    this.advance(print.tsMs);
    this.counts.prints++;
    const state = this.#stateOf(print.symbol);
    if (state.tape === 0) state.tape = print.tape;
    const venue = state.unnamed?.get(venueOf(print.exchange, print.trf));
    const entry = this.#ledger.add(print, state.index, file, venue === undefined);
    state.head = entry;
    if (venue) {
      this.#takeUnnamed(venue, entry, (each, on) => this.#turn(state, each, on));
      this.#count(entry, 1);
      return this.#roleOf(entry) === recordRole.trade;
    }
    const others = this.#ledger.namesakes(entry);
    if (others.length > 0 && collides(this.#ledger, entry, others)) {
      this.#ignoreIds(state, entry);
      return this.#roleOf(entry) === recordRole.trade;
    }
    if (others.length > 0 || print.correction !== 0) this.#settle(state, entry, others);
    else this.#turn(state, entry, true);
    this.#count(entry, 1);
    return others.length === 0;
  }

  /** The symbols with prints, alphabetical. */
  symbols(): string[] {
    return [...this.#states.keys()].sort();
  }

  takeChanged(): { symbol: string; fromMs: number }[] {
    const changed = [...this.#states.values()]
      .filter(({ changedFromMs }) => changedFromMs < Infinity)
      .map(({ symbol, changedFromMs }) => ({ symbol, fromMs: changedFromMs - (changedFromMs % 1000) }));
    for (const { symbol } of changed) this.#states.get(symbol)!.changedFromMs = Infinity;
    return changed.sort((a, b) => (a.symbol < b.symbol ? -1 : 1));
  }

  /** The bars so far; the day closes at the official close, which the unpriced seconds tell with its time. */
  bars(symbol: string, timeframe: StoredTimeframe, fromMs = -Infinity): ReturnType<PriceTape['bars']> {
    const { seconds, closes, tape } = this.#states.get(symbol) ?? this.#newState(symbol);
    const bars = seconds.bars(timeframe, fromMs);
    if (closes.size === 0) return bars;
    const listingExchange = listingExchangeOfTape(tape);
    if (timeframe === 'unpriced') return withClosings(bars, closingsOf(closes.values(), listingExchange), fromMs);
    return timeframe === '1d' ? withOfficialClose(bars, officialCloseOf(closes.values(), listingExchange)) : bars;
  }

  /** The symbol's records without repeats, in order of arrival, as far as they are remembered. */
  *prints(symbol: string): Generator<StockPrint> {
    const { index = -1, tape = 0 } = this.#states.get(symbol) ?? {};
    const ledger = this.#ledger;
    for (let entry = ledger.oldest; entry < ledger.next; entry++) {
      if (this.#columns.symbol[entry & ledger.mask] !== index) continue;
      const role = this.#roleOf(entry);
      if (role !== recordRole.repeat && role !== recordRole.copy) yield ledger.printAt(entry, { symbol, tape });
    }
  }

  /** Symbols with a venue whose ids collide, and the number of prints of these venues. */
  unnamed(): { symbols: string[]; prints: number } {
    const states = [...this.#states.values()].filter(({ unnamed }) => unnamed !== null);
    return { symbols: states.map(({ symbol }) => symbol).sort(), prints: this.#unnamedPrints };
  }

  latest(symbol: string): ReturnType<PriceTape['latest']> {
    const state = this.#states.get(symbol);
    if (!state || state.last < this.#ledger.oldest) return null;
    const slot = state.last & this.#ledger.mask;
    const volume = exactValue(state.tally.consolidated.volume);
    const closing = closingsOf(state.closes.values(), listingExchangeOfTape(state.tape)).at(-1);
    if (closing) return { price: closing.close, tsMs: closing.tsMs, volume };
    return { price: this.#columns.price[slot]! / priceUnits, tsMs: this.#columns.tsMs[slot]!, volume };
  }

  /** The start of the last complete bar of a timeframe, epoch ms; null before the first. */
  completeThrough(timeframe: Timeframe): number | null {
    if (timeframe === '1d') {
      const isComplete = this.#reachedMs - tapeSettings.completionLagMs >= this.#endMs;
      return isComplete ? exchangeInstant(this.#session) : null;
    }
    const through = completeThrough(this.#reachedMs, timeframeMs[timeframe]);
    return through >= this.#startMs ? through : null;
  }

  /** Off-exchange executions before disclosure. */
  offExchange(symbol: string): OffExchangeTally {
    return this.#states.get(symbol)?.tally ?? emptyTally();
  }

  #newState(symbol: string): SymbolState {
    const seconds = createStockSeconds(this.#ledger, this.#session, this.#extendedBars);
    const [index, tally, closes] = [this.#states.size, emptyTally(), new Map<number, CloseCandidate>()];
    const none = { head: -1, last: -1, changedFromMs: Infinity, tape: 0, unnamed: null };
    return { index, symbol, seconds, tally, closes, ...none };
  }

  #stateOf(symbol: string): SymbolState {
    if (this.#latestState?.symbol === symbol) return this.#latestState;
    let state = this.#states.get(symbol);
    if (!state) {
      state = this.#newState(symbol);
      this.#states.set(symbol, state);
    }
    this.#latestState = state;
    return state;
  }

  #setsClose(entry: number): boolean {
    return (this.#columns.traits[entry & this.#ledger.mask]! & stockTraits.openClose) !== 0;
  }

  /** The last counted print of a symbol that sets a close, among all remembered ones. */
  #findLast({ head }: SymbolState): number {
    const ledger = this.#ledger;
    let last = -1;
    for (let n = head; n >= ledger.oldest; n = this.#columns.previousOfSymbol[n & ledger.mask]!) {
      if (this.#columns.counted[n & ledger.mask] === 1 && this.#setsClose(n) && (last < 0 || ledger.before(last, n)))
        last = n;
    }
    return last;
  }

  #turn(state: SymbolState, entry: number, on: boolean) {
    const ledger = this.#ledger;
    const slot = entry & ledger.mask;
    this.#columns.counted[slot] = on ? 1 : 0;
    tallyPrint(state.tally, ledger, entry, on ? 1 : -1);
    const tsMs = this.#columns.tsMs[slot]!;
    if (tsMs < state.changedFromMs) state.changedFromMs = tsMs;
    if (on) state.seconds.count(entry);
    else state.seconds.recount(tsMs, state.head);
    if (!on && entry === state.last) state.last = this.#findLast(state);
    else if (on && this.#setsClose(entry) && (state.last < ledger.oldest || ledger.before(state.last, entry)))
      state.last = entry;
    if (!mayBeClose(ledger.conditions(entry))) return;
    if (on) state.closes.set(entry, closeCandidate(ledger, entry));
    else state.closes.delete(entry);
  }

  /** Moves a replacing record to the replaced one's position in time. */
  #moveTo(entry: number, positionOf: number) {
    const columns = this.#columns;
    if (entry === positionOf) return;
    const [to, from] = [entry & this.#ledger.mask, positionOf & this.#ledger.mask];
    if (!this.#moved.has(entry)) this.#moved.set(entry, columns.tsMs[to]!);
    columns.tsMs[to] = columns.tsMs[from]!;
    columns.tsNanos[to] = columns.tsNanos[from]!;
    columns.sequence[to] = columns.sequence[from]!;
  }

  #saidAt(entry: number): number {
    return this.#moved.get(entry) ?? this.#columns.tsMs[entry & this.#ledger.mask]!;
  }

  #saidBefore(a: number, b: number): boolean {
    return this.#saidAt(a) < this.#saidAt(b) || (this.#saidAt(a) === this.#saidAt(b) && this.#ledger.before(a, b));
  }

  #roleOf(entry: number): number {
    return this.#columns.role[entry & this.#ledger.mask]!;
  }

  #setRole(entry: number, role: number): void {
    this.#columns.role[entry & this.#ledger.mask] = role;
  }

  /** Counts a record by its role. */
  #count(entry: number, sign: 1 | -1): void {
    const { counts } = this;
    const role = this.#roleOf(entry);
    if (role === recordRole.repeat) counts.duplicates += sign;
    else if (role === recordRole.copy) counts.copies += sign;
    else {
      if (role === recordRole.trade) counts.trades += sign;
      if (role === recordRole.further || this.#columns.correction[entry & this.#ledger.mask] !== 0)
        counts.corrections += sign;
    }
  }

  /** A trade has several records: the valid one is counted, the others are not. */
  #settle(state: SymbolState, entry: number, others: readonly number[]) {
    const ledger = this.#ledger;
    if (isRepeated(ledger, entry, others)) {
      this.#setRole(entry, recordRole.repeat);
      return;
    }
    if (others.length > 0) this.#setRole(entry, recordRole.further);
    const standing = standingRecord(ledger, [entry, ...others], (a, b) => this.#saidBefore(a, b));
    for (const other of others) {
      if (this.#columns.counted[other & ledger.mask] === 1 && other !== standing?.entry)
        this.#turn(state, other, false);
    }
    if (!standing || this.#columns.counted[standing.entry & ledger.mask] === 1) return;
    this.#moveTo(standing.entry, standing.positionOf);
    this.#turn(state, standing.entry, true);
  }

  /** The remembered records of a print's symbol and venue, in order of arrival. */
  #ofVenue(entry: number): number[] {
    const ledger = this.#ledger;
    const found: number[] = [];
    for (let n = entry; n >= ledger.oldest; n = this.#columns.previousOfSymbol[n & ledger.mask]!)
      if (sameVenue(ledger, n, entry)) found.push(n);
    return found.reverse();
  }

  /** Takes the records of a venue again, without their ids, once a print shows that these collide. */
  #ignoreIds(state: SymbolState, entry: number) {
    const { counted, exchange, trf, tsMs, tsNanos, id } = this.#columns;
    const { mask } = this.#ledger;
    const venue: UnnamedVenue = { corrected: [], early: 0, unmatched: [] };
    state.unnamed ??= new Map();
    state.unnamed.set(venueOf(exchange[entry & mask]!, trf[entry & mask]!), venue);
    const records = this.#ofVenue(entry);
    const before = records.map((each) => ({ on: counted[each & mask]!, role: this.#roleOf(each) }));
    for (const each of records) {
      if (each !== entry) this.#count(each, -1);
      counted[each & mask] = 0;
      this.#setRole(each, recordRole.trade);
    }
    const mark: Turn = (each, on) => {
      counted[each & mask] = on ? 1 : 0;
    };
    for (const each of records) this.#takeUnnamed(venue, each, mark);
    const after = records.map((each) => counted[each & mask]!);
    for (const [i, each] of records.entries()) counted[each & mask] = before[i]!.on;
    for (const [i, each] of records.entries()) {
      const slot = each & mask;
      this.#count(each, 1);
      if (before[i]!.on !== after[i]) this.#turn(state, each, after[i] === 1);
      const [was, is] = [before[i]!.role, this.#roleOf(each)].map((role) => role === recordRole.trade);
      if (each === entry || was === is) continue;
      const trade = { tsMs: tsMs[slot]!, tsNanos: tsNanos[slot]!, exchange: exchange[slot]!, trf: trf[slot]! };
      this.revised.push({ ...trade, id: id[slot]!, sign: is ? 1 : -1 });
    }
  }

  /** Takes a record of a venue whose ids collide. Corrections find their prints by price and size. */
  #takeUnnamed(venue: UnnamedVenue, entry: number, turn: Turn) {
    const ledger = this.#ledger;
    this.#unnamedPrints++;
    if (ledger.isCopy(entry)) {
      this.#setRole(entry, recordRole.copy);
      return;
    }
    const code = this.#columns.correction[entry & ledger.mask]!;
    if (code === 0 || code === correctedTrade) {
      if (code === correctedTrade && venue.early > 0) venue.early--;
      else if (code === correctedTrade) venue.corrected.push(entry);
      const withdrawal = venue.unmatched.findIndex((message) => mayWithdraw(ledger, message, entry));
      if (withdrawal < 0) {
        turn(entry, true);
        return;
      }
      const [message] = venue.unmatched.splice(withdrawal, 1);
      // A withdrawn trade came first, as the record of the trade.
      if (this.#roleOf(message!) === recordRole.trade) this.#setRole(entry, recordRole.further);
      return;
    }
    const corrected = code === correctionMessage ? venue.corrected.shift() : undefined;
    const original = this.#withdrawnBy(entry, corrected);
    if (original >= 0) turn(original, false);
    else if (corrected === undefined) venue.unmatched.push(entry);
    if (code === correctionMessage && corrected === undefined) venue.early++;
    if (original >= 0 || !isWithdrawnTrade(code)) this.#setRole(entry, recordRole.further);
  }

  /**
   * The latest valid print that a record without a usable id withdraws; −1 = none. If the tape has the corrected trade,
   * it is one of that instant: usually the tape has it instead of the original.
   */
  #withdrawnBy(record: number, corrected: number | undefined): number {
    const ledger = this.#ledger;
    const { counted, correction, previousOfSymbol, tsMs, tsNanos } = this.#columns;
    const at = corrected === undefined ? undefined : corrected & ledger.mask;
    let latest = -1;
    for (let n = record; n >= ledger.oldest; n = previousOfSymbol[n & ledger.mask]!) {
      const slot = n & ledger.mask;
      if (counted[slot] !== 1 || !mayWithdraw(ledger, record, n)) continue;
      const isOriginal = at === undefined || (tsMs[slot] === tsMs[at] && tsNanos[slot] === tsNanos[at]);
      if (!isOriginal || (at !== undefined && correction[slot] !== 0)) continue;
      if (latest < 0 || ledger.before(latest, n)) latest = n;
    }
    return latest;
  }

  /** Advances event time to this instant (epoch ms) without a trade. */
  advance(tsMs: number): void {
    if (tsMs > this.#reachedMs) this.#reachedMs = tsMs;
  }
}
