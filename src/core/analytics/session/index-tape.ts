import { tradeSpan } from '../../domain/calendar.ts';
import {
  type BarColumns,
  barColumns,
  type StoredTimeframe,
  type Timeframe,
  timeframeMs,
} from '../../domain/market/bar.ts';
import { type IndexValue, priceUnits } from '../../domain/market/print.ts';
import { stockTraits } from '../../domain/market/stock-trade-conditions.ts';
import { exchangeInstant, type SessionDate } from '../../domain/market-time.ts';
import { addToBar, type BarRows, barsOfRows, createBarRows, foldRows } from '../bars/bar-rows.ts';

const secondMs = 1000;
const nanosInMs = 1_000_000;
const cut = (lengthMs: number) => (tsMs: number) => tsMs - (tsMs % lengthMs);
const secondOf = cut(secondMs);

/** One session's index values: from values to bars without volume. */
export interface IndexTape extends PriceTape {
  /** Takes a value; the object may be reused afterwards. Values of another trade date are omitted. */
  value(value: IndexValue): void;
}

interface IndexState {
  seconds: BarRows;
  latest: { price: number; tsMs: number; tsNanos: number };
  changedFromMs: number;
}

/** Values of one second are in one list: its entries are their instants, nanoseconds within the second. */
const isEarlier = (a: number, b: number) => a < b;
const traits = stockTraits.highLow | stockTraits.openClose;

function rowsOf(seconds: BarRows, timeframe: Timeframe, dayStartMs: number, fromMs: number): BarRows {
  if (timeframe === '1s') return seconds;
  if (timeframe === '1d') return foldRows(seconds, () => dayStartMs, true, -Infinity);
  const startOf = cut(timeframeMs[timeframe]);
  return foldRows(seconds, startOf, true, startOf(fromMs));
}

/** Creates an index tape of one session. Memory is bounded by the seconds in which indices have values. */
export function createIndexTape(session: SessionDate): IndexTape {
  const { fromMs: startMs, toMs: endMs } = tradeSpan(session);
  const dayStartMs = exchangeInstant(session);
  const states = new Map<string, IndexState>();

  function stateOf(symbol: string): IndexState {
    let state = states.get(symbol);
    if (!state) {
      state = { seconds: createBarRows(), latest: { price: 0, tsMs: -Infinity, tsNanos: 0 }, changedFromMs: Infinity };
      states.set(symbol, state);
    }
    return state;
  }

  return {
    value({ symbol, value: price, tsMs, tsNanos }) {
      if (tsMs < startMs || tsMs >= endMs) return;
      const state = stateOf(symbol);
      const entry = (tsMs % secondMs) * nanosInMs + tsNanos;
      addToBar(state.seconds, secondOf(tsMs), { entry, price, size: 0, sizeMicros: 0, traits }, isEarlier);
      const { latest } = state;
      if (tsMs > latest.tsMs || (tsMs === latest.tsMs && tsNanos >= latest.tsNanos))
        state.latest = { price, tsMs, tsNanos };
      state.changedFromMs = Math.min(state.changedFromMs, secondOf(tsMs));
    },
    takeChanged() {
      const changed = [...states].filter(([, { changedFromMs }]) => changedFromMs < Infinity);
      const taken = changed.map(([symbol, { changedFromMs: fromMs }]) => ({ symbol, fromMs }));
      for (const [, state] of changed) state.changedFromMs = Infinity;
      return taken.sort((a, b) => (a.symbol < b.symbol ? -1 : 1));
    },
    bars(symbol, timeframe, fromMs = -Infinity): BarColumns {
      // Each value forms a price.
      if (timeframe === 'unpriced') return barColumns(0);
      const bars = barsOfRows(rowsOf(stateOf(symbol).seconds, timeframe, dayStartMs, fromMs), fromMs);
      bars.tradeCount.fill(Number.NaN);
      return bars;
    },
    latest(symbol) {
      const latest = states.get(symbol)?.latest;
      return latest ? { price: latest.price / priceUnits, tsMs: latest.tsMs, volume: 0 } : null;
    },
  };
}

/** Prices of a session's tape: of stocks, or of indices. */
export interface PriceTape {
  /** The symbols whose figures changed since the last call, alphabetical, with the first changed second. */
  takeChanged(): { symbol: string; fromMs: number }[];
  /** The bars so far that start at or after `fromMs`, ascending. */
  bars(symbol: string, timeframe: StoredTimeframe, fromMs?: number): BarColumns;
  /**
   * The last price that sets a close (dollars) with its instant, and the volume so far; null before the first. For a
   * stock with an official close, that with its instant.
   */
  latest(symbol: string): { price: number; tsMs: number; volume: number } | null;
}
