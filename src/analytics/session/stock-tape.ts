import { tradeSpan } from '../../domain/calendar.ts';
import { type Timeframe, timeframeMs } from '../../domain/market/bar.ts';
import { priceUnits, type StockPrint } from '../../domain/market/print.ts';
import { stockTraits } from '../../domain/market/stock-trade-conditions.ts';
import { exchangeInstant, type SessionDate } from '../../domain/market-time.ts';
import { completeThrough, createStockSeconds, type StockSeconds } from '../bars/stock-bars-from-prints.ts';
import { tapeSettings } from '../methodology.ts';
import { emptyTally, type OffExchangeTally, tallyPrint } from '../offexchange/tally.ts';
import { isRepeated, standingRecord } from '../prints/corrections.ts';
import { exactValue } from '../prints/exact-sum.ts';
import { type StockColumns, StockLedger } from '../prints/stock-ledger.ts';
import { mayBeClose, officialCloseOf } from './official-close.ts';
import type { PriceTape } from './price-tape.ts';

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
  duplicates: number;
  /** Records that withdrew or replaced another. */
  corrections: number;
  otherSession: number;
}

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
  closes: Set<number>;
}

/**
 * One session's stock tape: from prints to bars and off-exchange figures. The result depends on the prints alone, not
 * on their order. Memory is bounded by the remembered prints and the seconds in which symbols trade.
 */
export class StockTape implements PriceTape {
  readonly counts: StockTapeCounts = { prints: 0, trades: 0, duplicates: 0, corrections: 0, otherSession: 0 };
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

  /** Takes a print; the object may be reused afterwards. */
  print(print: StockPrint): void {
    if (print.tsMs < this.#startMs || print.tsMs >= this.#endMs) {
      this.counts.otherSession++;
      return;
    }
    this.advance(print.tsMs);
    this.counts.prints++;
    const state = this.#stateOf(print.symbol);
    const entry = this.#ledger.add(print, state.index);
    state.head = entry;
    const others = this.#ledger.namesakes(entry);
    if (others.length === 0) this.counts.trades++;
    if (others.length > 0 || print.correction !== 0) this.#settle(state, entry, others);
    else this.#turn(state, entry, true);
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

  bars(symbol: string, timeframe: Timeframe, fromMs = -Infinity): ReturnType<PriceTape['bars']> {
    return (this.#states.get(symbol) ?? this.#newState(symbol)).seconds.bars(timeframe, fromMs);
  }

  latest(symbol: string): ReturnType<PriceTape['latest']> {
    const state = this.#states.get(symbol);
    if (!state || state.last < this.#ledger.oldest) return null;
    const slot = state.last & this.#ledger.mask;
    const volume = exactValue(state.tally.consolidated.volume);
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

  /** The official close so far, dollars; `listingExchange` null if unknown. */
  officialClose(symbol: string, listingExchange: number | null): number | null {
    const state = this.#states.get(symbol);
    if (!state) return null;
    const lastClose = state.seconds.bars('1d', -Infinity).close[0] ?? null;
    const candidates = [...state.closes].filter((entry) => entry >= this.#ledger.oldest);
    return officialCloseOf(this.#ledger, candidates, listingExchange, lastClose);
  }

  /** Off-exchange executions before disclosure. */
  offExchange(symbol: string): OffExchangeTally {
    return this.#states.get(symbol)?.tally ?? emptyTally();
  }

  #newState(symbol: string): SymbolState {
    const seconds = createStockSeconds(this.#ledger, this.#session, this.#extendedBars);
    const [index, tally, closes] = [this.#states.size, emptyTally(), new Set<number>()];
    return { index, symbol, seconds, tally, closes, head: -1, last: -1, changedFromMs: Infinity };
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
    if (on) state.closes.add(entry);
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

  /** A trade has several records: the valid one is counted, the others are not. */
  #settle(state: SymbolState, entry: number, others: readonly number[]) {
    const ledger = this.#ledger;
    if (isRepeated(ledger, entry, others)) {
      this.counts.duplicates++;
      return;
    }
    this.counts.corrections++;
    const standing = standingRecord(ledger, [entry, ...others], (a, b) => this.#saidBefore(a, b));
    for (const other of others) {
      if (this.#columns.counted[other & ledger.mask] === 1 && other !== standing?.entry)
        this.#turn(state, other, false);
    }
    if (!standing || this.#columns.counted[standing.entry & ledger.mask] === 1) return;
    this.#moveTo(standing.entry, standing.positionOf);
    this.#turn(state, standing.entry, true);
  }

  /** Advances event time to this instant (epoch ms) without a trade. */
  advance(tsMs: number): void {
    if (tsMs > this.#reachedMs) this.#reachedMs = tsMs;
  }
}
