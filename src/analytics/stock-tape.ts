import { type BarColumns, type Timeframe, timeframeMs } from '../domain/bar.ts';
import { addDays, exchangeInstant, type SessionDate } from '../domain/market-time.ts';
import type { StockPrint } from '../domain/print.ts';
import { isRepeated, standingRecord } from './corrections.ts';
import { tapeSettings } from './methodology.ts';
import { emptyTally, type OffExchangeTally, tallyPrint } from './off-exchange-tally.ts';
import { mayBeClose, officialCloseOf } from './official-close.ts';
import { completeThrough, createStockSeconds, type StockSeconds } from './stock-bars-from-prints.ts';
import { createStockLedger } from './stock-ledger.ts';

export interface StockTapeOptions {
  /** Prints of another New York date are counted as such and left out. */
  session: SessionDate;
  /** Prints remembered; `tapeSettings.rememberedPrints` when absent. A correction of one forgotten changes nothing. */
  remembered?: number;
}

/** What came in, by what became of it. */
export interface StockTapeCounts {
  prints: number;
  duplicates: number;
  /** Records that took another back or replaced it. */
  corrections: number;
  otherSession: number;
}

/** One session's stock tape: prints in, bars and off-exchange figures out. What it says depends on the prints alone, not on their order. */
export interface StockTape {
  /** Takes a print; the object may be used again afterwards. */
  print(print: StockPrint): void;
  /** Event time has come to this instant (epoch ms) although nothing traded. */
  advance(tsMs: number): void;
  /** The symbols met, alphabetical. */
  symbols(): string[];
  /** The symbols whose figures changed since the last call. */
  takeChanged(): string[];
  bars(symbol: string, timeframe: Timeframe): BarColumns;
  /** The start of the last bar of a timeframe that is taken to be complete, epoch ms; null before the first. */
  completeThrough(timeframe: Timeframe): number | null;
  /** The official close so far, dollars; `listingExchange` null when it is not known. */
  officialClose(symbol: string, listingExchange: number | null): number | null;
  /** Off-exchange executions before disclosure. */
  offExchange(symbol: string): OffExchangeTally;
  readonly counts: Readonly<StockTapeCounts>;
  readonly reachedMs: number;
}

/** What is kept of a symbol. */
interface SymbolState {
  index: number;
  symbol: string;
  seconds: StockSeconds;
  tally: OffExchangeTally;
  /** The newest entry. */
  head: number;
  closes: Set<number>;
}

/** A stock tape of one session. Memory is bounded by the prints remembered and the seconds in which symbols trade. */
export function createStockTape({ session, remembered = tapeSettings.rememberedPrints }: StockTapeOptions): StockTape {
  const [startMs, endMs] = [exchangeInstant(session), exchangeInstant(addDays(session, 1))];
  const ledger = createStockLedger(remembered);
  const { columns } = ledger;
  const states = new Map<string, SymbolState>();
  const counts: StockTapeCounts = { prints: 0, duplicates: 0, corrections: 0, otherSession: 0 };
  let changed = new Set<string>();
  let last: SymbolState | null = null;
  let reachedMs = -Infinity;

  function newState(symbol: string): SymbolState {
    const seconds = createStockSeconds(ledger, startMs);
    return { index: states.size, symbol, seconds, tally: emptyTally(), head: -1, closes: new Set() };
  }

  function stateOf(symbol: string): SymbolState {
    if (last?.symbol === symbol) return last;
    let state = states.get(symbol);
    if (!state) {
      state = newState(symbol);
      states.set(symbol, state);
    }
    last = state;
    changed.add(symbol);
    return state;
  }

  function turn(state: SymbolState, entry: number, on: boolean) {
    const slot = entry & ledger.mask;
    columns.counted[slot] = on ? 1 : 0;
    tallyPrint(state.tally, ledger, entry, on ? 1 : -1);
    if (on) state.seconds.count(entry);
    else state.seconds.recount(columns.tsMs[slot]!, state.head);
    if (!mayBeClose(ledger.conditions(entry))) return;
    if (on) state.closes.add(entry);
    else state.closes.delete(entry);
  }

  /** Puts a record that replaces another in that one's place in time. */
  function moveTo(entry: number, placeOf: number) {
    const [to, from] = [entry & ledger.mask, placeOf & ledger.mask];
    columns.tsMs[to] = columns.tsMs[from]!;
    columns.tsNanos[to] = columns.tsNanos[from]!;
    columns.sequence[to] = columns.sequence[from]!;
  }

  /** A trade has several records: whichever stands is counted, the others are not. */
  function settle(state: SymbolState, entry: number, others: readonly number[]) {
    if (isRepeated(ledger, entry, others)) {
      counts.duplicates++;
      return;
    }
    counts.corrections++;
    const standing = standingRecord(ledger, [entry, ...others]);
    for (const other of others) {
      if (columns.counted[other & ledger.mask] === 1 && other !== standing?.entry) turn(state, other, false);
    }
    if (!standing || columns.counted[standing.entry & ledger.mask] === 1) return;
    moveTo(standing.entry, standing.placeOf);
    turn(state, standing.entry, true);
  }

  function advance(tsMs: number) {
    if (tsMs > reachedMs) reachedMs = tsMs;
  }

  return {
    print(print) {
      if (print.tsMs < startMs || print.tsMs >= endMs) {
        counts.otherSession++;
        return;
      }
      advance(print.tsMs);
      counts.prints++;
      const state = stateOf(print.symbol);
      const entry = ledger.add(print, state.index);
      state.head = entry;
      const others = ledger.namesakes(entry);
      if (others.length > 0 || print.correction !== 0) settle(state, entry, others);
      else turn(state, entry, true);
    },
    advance,
    symbols: () => [...states.keys()].sort(),
    takeChanged() {
      const symbols = [...changed].sort();
      changed = new Set();
      last = null;
      return symbols;
    },
    bars: (symbol, timeframe) => (states.get(symbol) ?? newState(symbol)).seconds.bars(timeframe),
    completeThrough(timeframe) {
      if (timeframe === '1d') return reachedMs - tapeSettings.completionLagMs >= endMs ? startMs : null;
      const through = completeThrough(reachedMs, timeframeMs[timeframe]);
      return through >= startMs ? through : null;
    },
    officialClose(symbol, listingExchange) {
      const state = states.get(symbol);
      if (!state) return null;
      const lastClose = state.seconds.bars('1d').close[0] ?? null;
      const candidates = [...state.closes].filter((entry) => entry >= ledger.oldest);
      return officialCloseOf(ledger, candidates, listingExchange, lastClose);
    },
    offExchange: (symbol) => states.get(symbol)?.tally ?? emptyTally(),
    counts,
    get reachedMs() {
      return reachedMs;
    },
  };
}
