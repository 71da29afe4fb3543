import type { FlowChange } from '../../analytics/flow/changes.ts';
import { createContractTape } from '../../analytics/session/contract-tape.ts';
import { createOptionTape, type OptionTape } from '../../analytics/session/option-tape.ts';
import type { BarColumns } from '../../domain/bar.ts';
import { optionsAreOver } from '../../domain/calendar.ts';
import type { TradedContract, TradedUnderlying } from '../../domain/chain/contract-book.ts';
import type { FlowEvent } from '../../domain/flow/flow.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import type { TapeFeed } from './option-tape-files.ts';
import type { SessionGreeks } from './session-greeks.ts';

/** One underlying's session of an option tape being made, and the events that stand so far. */
export interface OptionSession {
  date: SessionDate;
  underlying: TradedUnderlying;
  /** Takes its records. */
  feed: TapeFeed;
  /** Nothing comes any more: all is made. */
  end(): Promise<void>;
  tape: Pick<OptionTape, 'crossSections' | 'ranked' | 'counts' | 'observed'>;
  events: Map<string, FlowEvent>;
}

/** Takes the bars of a contract; they are made when they are asked for, which is to be at once. */
export type OnContractBars = (contract: TradedContract, bars: (timeframe: '1m' | '5m') => BarColumns) => void;

const changing = (events: Map<string, FlowEvent>) => (change: FlowChange) => {
  if (change.kind === 'added') events.set(change.event.eventId, change.event);
  else events.delete(change.eventId);
};

/** An empty session of prints alone, which come a contract after the other. */
export function createPrintSession(
  underlying: TradedUnderlying,
  date: SessionDate,
  onBars: OnContractBars,
): OptionSession {
  const events = new Map<string, FlowEvent>();
  const tape = createContractTape({ session: date, onChange: changing(events), onBars });
  const quote = () => {
    throw new Error('a tape by contract takes no quotes');
  };
  return { date, underlying, feed: { print: tape.print, quote }, end: async () => tape.end(), tape, events };
}

/**
 * An empty session of prints and quotes, which come in event time; `greeks` solves it, null when nothing does. Once the
 * session is over at `nowMs`, so are all its minutes, whether or not anything was quoted to the end.
 */
export function createQuotedSession(
  underlying: TradedUnderlying,
  date: SessionDate,
  onBars: OnContractBars,
  solving: { greeks: SessionGreeks | null; nowMs: number },
): OptionSession {
  const { greeks, nowMs } = solving;
  const events = new Map<string, FlowEvent>();
  // It comes in order: no print asks for the quote of an earlier time.
  const tape = createOptionTape({ session: date, onChange: changing(events), holdMs: 0, rememberedQuotes: 0 });
  async function end() {
    tape.end();
    for (const { contract } of tape.bars.takeChanged())
      onBars(contract, (timeframe) => tape.bars.bars(contract, timeframe));
    if (greeks === null) return;
    const throughMs = optionsAreOver(date, nowMs) ? Number.MAX_VALUE : tape.reachedMs;
    while (greeks.dueMs <= throughMs) await greeks.take();
    await greeks.end();
  }
  return { date, underlying, feed: greeks ? solvedFeed(tape, greeks) : tape, end, tape, events };
}

/** Gives every record to both. */
function solvedFeed(tape: OptionTape, greeks: SessionGreeks): TapeFeed {
  return {
    print(print) {
      tape.print(print);
      greeks.print(print);
    },
    quote(quote) {
      tape.quote(quote);
      greeks.quote(quote);
    },
    get dueMs() {
      return greeks.dueMs;
    },
    due: greeks.take,
  };
}
