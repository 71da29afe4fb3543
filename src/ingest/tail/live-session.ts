import type { FlowChange } from '../../analytics/flow/changes.ts';
import { createIndexTape, type IndexTape } from '../../analytics/session/index-tape.ts';
import { OptionTape } from '../../analytics/session/option-tape.ts';
import type { PriceTape } from '../../analytics/session/price-tape.ts';
import { StockTape } from '../../analytics/session/stock-tape.ts';
import type { FlowEvent } from '../../domain/flow/flow.ts';
import { timeframeMs } from '../../domain/market/bar.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import { hourMs } from '../../domain/units.ts';
import type { GreeksSlots } from '../../store/chain/greeks-minutes.ts';
import type { PricePoint } from '../../store/chain/minute-market.ts';
import type { LiveRecord } from '../../tape/live/live-line.ts';
import type { MinuteGreeks, MinuteGreeksOptions } from '../chains/minute-greeks.ts';
import { liveHoldMs } from './live-bounds.ts';

/**
 * Ages at which a last price is looked for: mostly it is of the last minute; at last all that traded in the session is
 * looked at.
 */
const priceAgesMs = [timeframeMs['1m'], hourMs, Infinity];

/** One session of a live tape: what the engine knows of it, and what is not written yet. */
export interface LiveSession {
  date: SessionDate;
  /** The line of the tape at which it began, from 1. */
  fromLine: number;
  options: OptionTape;
  stocks: StockTape;
  indices: IndexTape;
  greeks: MinuteGreeks;
  slots: GreeksSlots;
  /** Events by id since the last write; null = taken back. */
  events: Map<string, { seq: number; underlying: string; event: FlowEvent | null }>;
  /** True if it was written before, by this process. */
  isBegun: boolean;
}

/** State that a live session goes on from. */
export interface LiveSessionStart {
  fromLine: number;
  /** The highest number a snapshot of it has. */
  firstSnapshotSeq: number;
  /** As of `IngestSettings`. */
  extendedBars?: boolean | undefined;
  /** Its minute solves, which are given the prices of stocks and indices as they come. */
  greeks: (livePrice: NonNullable<MinuteGreeksOptions['livePrice']>) => MinuteGreeks;
}

/** The close of a symbol's last minute that is over at a boundary. */
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

/** An empty session. */
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

/** A record of a session, which a chain is not. */
export type SessionRecord = Exclude<LiveRecord, { type: 'chain' }>;

/** Takes a record of the session. */
export function takeRecord({ options, stocks, indices, greeks }: LiveSession, record: SessionRecord): void {
  if (record.type === 'stock_print') {
    stocks.print(record.print);
    options.advance(record.print.tsMs);
  } else if (record.type === 'index_value') {
    indices.value(record.value);
    stocks.advance(record.value.tsMs);
    options.advance(record.value.tsMs);
  } else if (record.type === 'option_print') {
    options.print(record.print);
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
 * Forgets what is not written: it was written before the process started, but for the bars of option contracts from
 * `barsFromMs` on; null = those too.
 */
export function forgetChanges({ options, stocks, indices, events }: LiveSession, barsFromMs: number | null): void {
  events.clear();
  if (barsFromMs === null) options.bars.takeChanged();
  else options.bars.takeBefore(barsFromMs);
  stocks.takeChanged();
  indices.takeChanged();
}
