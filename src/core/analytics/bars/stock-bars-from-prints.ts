import { minuteMs } from '../../../platform/runtime/clock.ts';
import { regularSession, sessionMinutes } from '../../domain/calendar.ts';
import { type BarColumns, type StoredTimeframe, type Timeframe, timeframeMs } from '../../domain/market/bar.ts';
import { extendedTraitsOf } from '../../domain/market/stock-trade-conditions.ts';
import { exchangeInstant, type SessionDate } from '../../domain/market-time.ts';
import { tapeSettings } from '../methodology.ts';
import type { StockLedger } from '../prints/stock-ledger.ts';
import {
  addToBar,
  type BarPrint,
  type BarRows,
  barsOfRows,
  createBarRows,
  emptyBar,
  foldRows,
  unpricedOfRows,
} from './bar-rows.ts';

const secondMs = 1000;
const secondOf = (tsMs: number) => tsMs - (tsMs % secondMs);
const cut = (lengthMs: number) => (tsMs: number) => tsMs - (tsMs % lengthMs);

/** One symbol's prints by the second, from which every longer bar is folded. */
export interface StockSeconds {
  count(entry: number): void;
  /** Recomputes a second from the symbol's remaining prints; `head` is the newest of them. */
  recount(tsMs: number, head: number): void;
  /** The bars that start at or after `fromMs`. Seconds and minutes have their priced volume. */
  bars(timeframe: StoredTimeframe, fromMs: number): BarColumns;
}

/** True if an instant is in extended hours: from 04:00 to 20:00 New York, without the regular session. */
function extendedHours(session: SessionDate): (tsMs: number) => boolean {
  const fromMs = exchangeInstant(session, sessionMinutes.extendedOpen);
  const toMs = exchangeInstant(session, sessionMinutes.extendedClose);
  const { openMs, closeMs } = regularSession(session) ?? { openMs: toMs, closeMs: toMs };
  return (tsMs) => tsMs >= fromMs && tsMs < toMs && (tsMs < openMs || tsMs >= closeMs);
}

/**
 * Creates empty seconds. With `isExtended`, Form T prints of extended hours form the prices of all bars except the
 * day's, which begins at the session's midnight.
 */
export function createStockSeconds(ledger: StockLedger, session: SessionDate, isExtended: boolean): StockSeconds {
  const { columns } = ledger;
  const dayStartMs = exchangeInstant(session);
  // The first follows the rules of regular hours, for day bars; the second is for all other bars.
  const seconds = createBarRows();
  const shown = isExtended ? createBarRows() : seconds;
  const isOfExtended = isExtended ? extendedHours(session) : null;
  const print: BarPrint = { entry: 0, price: 0, size: 0, sizeMicros: 0, traits: 0 };
  const before = (a: number, b: number) => b >= ledger.oldest && ledger.before(a, b);

  function add(entry: number) {
    const slot = entry & ledger.mask;
    print.entry = entry;
    print.price = columns.price[slot]!;
    print.size = columns.size[slot]!;
    print.sizeMicros = columns.sizeMicros[slot]!;
    print.traits = columns.traits[slot]!;
    const tsMs = columns.tsMs[slot]!;
    addToBar(seconds, secondOf(tsMs), print, before);
    if (isOfExtended === null) return;
    if (isOfExtended(tsMs)) print.traits = extendedTraitsOf(ledger.conditions(entry));
    addToBar(shown, secondOf(tsMs), print, before);
  }

  /** 1m and 1d bars are based on trades, so that volume without a price counts in them; 5m and 1h on 1m bars. */
  function rowsOf(timeframe: Timeframe, fromMs: number): BarRows {
    if (timeframe === '1s') return shown;
    if (timeframe === '1d') return foldRows(seconds, () => dayStartMs, false, -Infinity);
    const startOf = cut(timeframeMs[timeframe]);
    const minutes = foldRows(shown, cut(minuteMs), false, startOf(fromMs));
    return timeframe === '1m' ? minutes : foldRows(minutes, startOf, true, -Infinity);
  }

  return {
    count: add,
    recount(tsMs, head) {
      const startMs = secondOf(tsMs);
      emptyBar(seconds, startMs);
      if (isExtended) emptyBar(shown, startMs);
      for (let n = head; n >= ledger.oldest; n = columns.previousOfSymbol[n & ledger.mask]!) {
        const slot = n & ledger.mask;
        if (columns.counted[slot] === 1 && secondOf(columns.tsMs[slot]!) === startMs) add(n);
      }
    },
    bars(timeframe, fromMs) {
      if (timeframe === 'unpriced') return unpricedOfRows(seconds, shown, fromMs);
      return barsOfRows(rowsOf(timeframe, fromMs), fromMs, timeframe === '1s' || timeframe === '1m');
    },
  };
}

/** The start of the last bar of a length that is final when event time is `reachedMs`. */
export function completeThrough(reachedMs: number, lengthMs: number): number {
  const settledMs = reachedMs - tapeSettings.completionLagMs;
  return settledMs - (((settledMs % lengthMs) + lengthMs) % lengthMs) - lengthMs;
}
