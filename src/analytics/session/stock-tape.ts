import { type Timeframe, timeframeMs } from '../../domain/bar.ts';
import { tradeSpan } from '../../domain/calendar.ts';
import { exchangeInstant, type SessionDate } from '../../domain/market-time.ts';
import { priceUnits, type StockPrint } from '../../domain/print.ts';
import { stockTraits } from '../../domain/stock-trade-conditions.ts';
import { completeThrough, createStockSeconds, type StockSeconds } from '../bars/stock-bars-from-prints.ts';
import { tapeSettings } from '../methodology.ts';
import { emptyTally, type OffExchangeTally, tallyPrint } from '../offexchange/tally.ts';
import { isRepeated, standingRecord } from '../prints/corrections.ts';
import { exactValue } from '../prints/exact-sum.ts';
import { createStockLedger } from '../prints/stock-ledger.ts';
import { mayBeClose, officialCloseOf } from './official-close.ts';
import type { PriceTape } from './price-tape.ts';

export interface StockTapeOptions {
  /** Prints of another trade date are counted as such and omitted. */
  session: SessionDate;
  /** Prints remembered; `tapeSettings.rememberedPrints` when absent. A correction of one forgotten changes nothing. */
  remembered?: number;
  /** Form T prints of extended hours form the prices of bars, but not of that of the day. */
  extendedBars?: boolean;
}

/** Counts of the prints that came in, by outcome. */
export interface StockTapeCounts {
  prints: number;
  /** Prints that name a trade which no print before named. */
  trades: number;
  duplicates: number;
  /** Records that took another back or replaced it. */
  corrections: number;
  otherSession: number;
}

/**
 * One session's stock tape: prints in, bars and off-exchange figures out. What it says depends on the prints alone, not
 * on their order.
 */
export interface StockTape extends PriceTape {
  /** Takes a print; the object may be used again afterwards. */
  print(print: StockPrint): void;
  /** Event time has come to this instant (epoch ms) although nothing traded. */
  advance(tsMs: number): void;
  /** The symbols met, alphabetical. */
  symbols(): string[];
  /** The start of the last bar of a timeframe that is taken to be complete, epoch ms; null before the first. */
  completeThrough(timeframe: Timeframe): number | null;
  /** The official close so far, dollars; `listingExchange` null when it is not known. */
  officialClose(symbol: string, listingExchange: number | null): number | null;
  /** Off-exchange executions before disclosure. */
  offExchange(symbol: string): OffExchangeTally;
  readonly counts: Readonly<StockTapeCounts>;
  readonly reachedMs: number;
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
  /** The first second that changed since that was last asked for; Infinity = none did. */
  changedFromMs: number;
  closes: Set<number>;
}

/** A stock tape of one session. Memory is bounded by the prints remembered and the seconds in which symbols trade. */
export function createStockTape(options: StockTapeOptions): StockTape {
  const { session, remembered = tapeSettings.rememberedPrints, extendedBars = false } = options;
  const { fromMs: startMs, toMs: endMs } = tradeSpan(session);
  const dayStartMs = exchangeInstant(session);
  const ledger = createStockLedger(remembered);
  const { columns } = ledger;
  const states = new Map<string, SymbolState>();
  const counts: StockTapeCounts = { prints: 0, trades: 0, duplicates: 0, corrections: 0, otherSession: 0 };
  // Records that stand at another record's position in time, with their own position.
  const moved = new Map<number, number>();
  let latestState: SymbolState | null = null;
  let reachedMs = -Infinity;

  function newState(symbol: string): SymbolState {
    const seconds = createStockSeconds(ledger, session, extendedBars);
    const [index, tally, closes] = [states.size, emptyTally(), new Set<number>()];
    return { index, symbol, seconds, tally, closes, head: -1, last: -1, changedFromMs: Infinity };
  }

  function stateOf(symbol: string): SymbolState {
    if (latestState?.symbol === symbol) return latestState;
    let state = states.get(symbol);
    if (!state) {
      state = newState(symbol);
      states.set(symbol, state);
    }
    latestState = state;
    return state;
  }

  const setsClose = (entry: number) => (columns.traits[entry & ledger.mask]! & stockTraits.openClose) !== 0;

  /** The last counted print of a symbol that sets a close, looked for among all remembered. */
  function findLast({ head }: SymbolState): number {
    let last = -1;
    for (let n = head; n >= ledger.oldest; n = columns.previousOfSymbol[n & ledger.mask]!) {
      if (columns.counted[n & ledger.mask] === 1 && setsClose(n) && (last < 0 || ledger.before(last, n))) last = n;
    }
    return last;
  }

  function turn(state: SymbolState, entry: number, on: boolean) {
    const slot = entry & ledger.mask;
    columns.counted[slot] = on ? 1 : 0;
    tallyPrint(state.tally, ledger, entry, on ? 1 : -1);
    const tsMs = columns.tsMs[slot]!;
    if (tsMs < state.changedFromMs) state.changedFromMs = tsMs;
    if (on) state.seconds.count(entry);
    else state.seconds.recount(tsMs, state.head);
    if (!on && entry === state.last) state.last = findLast(state);
    else if (on && setsClose(entry) && (state.last < ledger.oldest || ledger.before(state.last, entry)))
      state.last = entry;
    if (!mayBeClose(ledger.conditions(entry))) return;
    if (on) state.closes.add(entry);
    else state.closes.delete(entry);
  }

  /** Moves a record that replaces another to that one's position in time. */
  function moveTo(entry: number, positionOf: number) {
    if (entry === positionOf) return;
    const [to, from] = [entry & ledger.mask, positionOf & ledger.mask];
    if (!moved.has(entry)) moved.set(entry, columns.tsMs[to]!);
    columns.tsMs[to] = columns.tsMs[from]!;
    columns.tsNanos[to] = columns.tsNanos[from]!;
    columns.sequence[to] = columns.sequence[from]!;
  }

  const saidAt = (entry: number) => moved.get(entry) ?? columns.tsMs[entry & ledger.mask]!;
  const saidBefore = (a: number, b: number) =>
    saidAt(a) < saidAt(b) || (saidAt(a) === saidAt(b) && ledger.before(a, b));

  /** A trade has several records: whichever stands is counted, the others are not. */
  function settle(state: SymbolState, entry: number, others: readonly number[]) {
    if (isRepeated(ledger, entry, others)) {
      counts.duplicates++;
      return;
    }
    counts.corrections++;
    const standing = standingRecord(ledger, [entry, ...others], saidBefore);
    for (const other of others) {
      if (columns.counted[other & ledger.mask] === 1 && other !== standing?.entry) turn(state, other, false);
    }
    if (!standing || columns.counted[standing.entry & ledger.mask] === 1) return;
    moveTo(standing.entry, standing.positionOf);
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
      if (others.length === 0) counts.trades++;
      if (others.length > 0 || print.correction !== 0) settle(state, entry, others);
      else turn(state, entry, true);
    },
    advance,
    symbols: () => [...states.keys()].sort(),
    takeChanged() {
      const changed = [...states.values()]
        .filter(({ changedFromMs }) => changedFromMs < Infinity)
        .map(({ symbol, changedFromMs }) => ({ symbol, fromMs: changedFromMs - (changedFromMs % 1000) }));
      for (const { symbol } of changed) states.get(symbol)!.changedFromMs = Infinity;
      return changed.sort((a, b) => (a.symbol < b.symbol ? -1 : 1));
    },
    bars: (symbol, timeframe, fromMs = -Infinity) =>
      (states.get(symbol) ?? newState(symbol)).seconds.bars(timeframe, fromMs),
    latest(symbol) {
      const state = states.get(symbol);
      if (!state || state.last < ledger.oldest) return null;
      const slot = state.last & ledger.mask;
      const volume = exactValue(state.tally.consolidated.volume);
      return { price: columns.price[slot]! / priceUnits, tsMs: columns.tsMs[slot]!, volume };
    },
    completeThrough(timeframe) {
      if (timeframe === '1d') return reachedMs - tapeSettings.completionLagMs >= endMs ? dayStartMs : null;
      const through = completeThrough(reachedMs, timeframeMs[timeframe]);
      return through >= startMs ? through : null;
    },
    officialClose(symbol, listingExchange) {
      const state = states.get(symbol);
      if (!state) return null;
      const lastClose = state.seconds.bars('1d', -Infinity).close[0] ?? null;
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
