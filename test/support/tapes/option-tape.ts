import type { FlowChange } from '../../../src/core/analytics/flow/flow-changes.ts';
import { OptionTape, type OptionTapeOptions } from '../../../src/core/analytics/session/option-tape.ts';
import { createContractBook } from '../../../src/core/domain/chain/contract-book.ts';
import type { FlowEvent } from '../../../src/core/domain/flow/flow.ts';
import { type OptionPrint, type OptionQuote, toPriceUnits } from '../../../src/core/domain/market/print.ts';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';

export const tapeSession = '2024-03-15';
/** 10:00 New York of the session. */
export const tapeStart = exchangeInstant(tapeSession, 10 * 60);

export const book = createContractBook();

/** A contract of the book. */
export function contract(text: string) {
  const found = book.find(text);
  if (!found) throw new Error(`not a contract: ${text}`);
  return found;
}

export const spyCall = contract('O:SPY240419C00520000');

let sequence = 0;

/** A print at `ms` after 10:00; what is not given is ordinary. Dollars. */
export function print(
  ms: number,
  size: number,
  dollars: number,
  exchange: number,
  given: Partial<OptionPrint> = {},
): OptionPrint {
  return {
    contract: spyCall,
    exchange,
    price: toPriceUnits(dollars),
    size,
    conditions: [209],
    correction: 0,
    tsMs: tapeStart + ms,
    tsNanos: 0,
    sequence: ++sequence,
    ...given,
  };
}

/** A quote at `ms` after 10:00. Dollars. */
export function quote(ms: number, bid: number, ask: number, given: Partial<OptionQuote> = {}): OptionQuote {
  return {
    contract: spyCall,
    bid: toPriceUnits(bid),
    ask: toPriceUnits(ask),
    tsMs: tapeStart + ms,
    tsNanos: 0,
    sequence: ++sequence,
    ...given,
  };
}

export type TapeRecord = OptionPrint | OptionQuote;

/**
 * Feeds records in the order given and ends the tape: its changes, the events they leave in the order of their last
 * telling, and the tape.
 */
export function runTape(records: readonly TapeRecord[], options: Partial<OptionTapeOptions> = {}) {
  const changes: FlowChange[] = [];
  const tape: OptionTape = new OptionTape({
    session: tapeSession,
    onChange: (change) => changes.push(change),
    ...options,
  });
  for (const record of records) {
    if ('bid' in record) tape.quote(record);
    else tape.print(record);
  }
  tape.end();
  return { changes, events: standing(changes), tape };
}

/** The events that changes leave. */
export function standing(changes: readonly FlowChange[]): FlowEvent[] {
  const events = new Map<string, FlowEvent>();
  for (const change of changes) {
    if (change.kind === 'withdrawn') {
      if (!events.delete(change.eventId)) throw new Error(`${change.eventId} is withdrawn and was not there`);
    } else {
      if (events.has(change.event.eventId)) throw new Error(`${change.event.eventId} is added twice`);
      events.set(change.event.eventId, change.event);
    }
  }
  return [...events.values()];
}
