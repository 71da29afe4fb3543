import type { FlowChange } from '../../../core/analytics/flow/flow-changes.ts';
import { tapeSettings } from '../../../core/analytics/methodology.ts';
import { createIndexTape, type IndexTape, type PriceTape } from '../../../core/analytics/session/index-tape.ts';
import { OptionTape } from '../../../core/analytics/session/option-tape.ts';
import { StockTape } from '../../../core/analytics/session/stock-tape.ts';
import type { FlowEvent } from '../../../core/domain/flow/flow.ts';
import { timeframeMs } from '../../../core/domain/market/bar.ts';
import type { SessionDate } from '../../../core/domain/market-time.ts';
import { hourMs } from '../../../platform/runtime/clock.ts';
import type { GreeksSlots } from '../../../store/chain/greeks.ts';
import type { PricePoint } from '../../../store/chain/minute-market.ts';
import type { LiveRecord } from '../../tape/live/live-line.ts';
import type { MinuteGreeks, MinuteGreeksOptions } from '../chains/minute-greeks.ts';

/** Ages within which a last price is searched: usually the last minute; at last everything traded in the session. */
const priceAgesMs = [timeframeMs['1m'], hourMs, Infinity];

/** One session of a live tape: the engine's state, and unwritten data. */
export interface LiveSession {
  date: SessionDate;
  /** The line of the tape at which it began, from 1. */
  fromLine: number;
  options: OptionTape;
  stocks: StockTape;
  indices: IndexTape;
  greeks: MinuteGreeks;
  slots: GreeksSlots;
  /** Events by id since the last write; null = withdrawn. */
  events: Map<string, { seq: number; underlying: string; event: FlowEvent | null }>;
  /** True if this process has written it before. */
  isBegun: boolean;
}

/** State from which a live session resumes. */
interface LiveSessionStart {
  fromLine: number;
  /** The highest number a snapshot of it has. */
  firstSnapshotSeq: number;
  /** As of `IngestSettings`. */
  extendedBars?: boolean | undefined;
  /** Creates its minute solves, which receive the prices of stocks and indices. */
  greeks: (livePrice: NonNullable<MinuteGreeksOptions['livePrice']>) => MinuteGreeks;
}

/** The close of a symbol's last minute that ended before a boundary. */
function lastPrice(tape: PriceTape, symbol: string, beforeMs: number): PricePoint | null {
  for (const ageMs of priceAgesMs) {
    const { tsMs, close } = tape.bars(symbol, '1m', beforeMs - ageMs);
    for (let i = tsMs.length - 1; i >= 0; i--) {
      const endMs = tsMs[i]! + timeframeMs['1m'];
      if (endMs <= beforeMs) return { tsMs: endMs, knownMs: endMs, price: close[i]! };
    }
  }
  return null;
}

/** Creates an empty session. */
export function createLiveSession(date: SessionDate, start: LiveSessionStart): LiveSession {
  const { fromLine, firstSnapshotSeq, greeks, extendedBars = false } = start;
  const events: LiveSession['events'] = new Map();
  const onChange = (change: FlowChange) => {
    const { seq } = change;
    if (change.kind === 'added') {
      const { event } = change;
      events.set(event.eventId, { seq, underlying: event.underlying, event });
    } else events.set(change.eventId, { seq, underlying: change.underlying, event: null });
  };
  const options = new OptionTape({ session: date, onChange, holdMs: liveHoldMs, firstSnapshotSeq });
  const stocks = new StockTape({ session: date, extendedBars });
  const indices = createIndexTape(date);
  const minutes = greeks(
    (symbol, beforeMs) => lastPrice(stocks, symbol, beforeMs) ?? lastPrice(indices, symbol, beforeMs),
  );
  return { date, fromLine, options, stocks, indices, greeks: minutes, slots: new Map(), events, isBegun: false };
}

/** A record of a session; a chain is not one. */
export type SessionRecord = Exclude<LiveRecord, { type: 'chain' }>;

/** Takes a record of the session, in a run of the tape. */
export function takeRecord(
  { options, stocks, indices, greeks }: LiveSession,
  record: SessionRecord,
  run: number,
): void {
  if (record.type === 'stock_print') {
    stocks.print(record.print, run);
    options.advance(record.print.tsMs);
  } else if (record.type === 'index_value') {
    indices.value(record.value);
    stocks.advance(record.value.tsMs);
    options.advance(record.value.tsMs);
  } else if (record.type === 'option_print') {
    options.print(record.print, run);
    greeks.print(record.print);
    stocks.advance(record.print.tsMs);
  } else if (record.type === 'option_quote') {
    options.quote(record.quote);
    greeks.quote(record.quote);
  } else {
    options.advance(record.tsMs);
    stocks.advance(record.tsMs);
  }
}

/**
 * Discards unwritten data: it was written before the process started, except for the bars of option contracts from
 * `barsFromMs` on; null = those too.
 */
export function forgetChanges({ options, stocks, indices, events }: LiveSession, barsFromMs: number | null): void {
  events.clear();
  if (barsFromMs === null) options.bars.takeChanged();
  else options.bars.takeBefore(barsFromMs);
  stocks.takeChanged();
  indices.takeChanged();
}

/*
 * From a print to its readers: it waits for earlier prints by event time, an event besides for a next print of its own;
 * then for a write that may have begun just before, for the next write to be due, and for that write. Event time goes
 * on with any line of the tape.
 */

/**
 * Time for which prints wait for earlier ones, ms of event time: events are sent soon, and again if a late print
 * changes them.
 */
export const liveHoldMs = 250;

/** Maximum interval at which the lines of a live tape are written, ms. */
export const liveCommitEveryMs = 100;

/**
 * Longest write, ms, with which prints are visible within `visibleWithinMs`; `docs/benchmarks.md` has the amount of
 * data for it.
 */
const liveCommitBudgetMs = 275;

/** Time within which a print of a live tape is visible to clients, ms, if writes stay within their budget. @testonly */
export const visibleWithinMs = liveHoldMs + tapeSettings.sweepGapMs + 2 * liveCommitBudgetMs + liveCommitEveryMs;
