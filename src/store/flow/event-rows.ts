import { contractId } from '../../core/domain/chain/option-contract.ts';
import type { FlowEvent } from '../../core/domain/flow/flow.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import type { EncodedRows } from '../rows/models/encoded-rows.ts';
import type { Row } from '../rows/models/row-values.ts';

/** An event to store. */
export interface NewEvent {
  /** The underlying. */
  symbol: string;
  sessionDate: SessionDate;
  seq: number;
  event: FlowEvent;
}

/** The row of an event. */
export function eventRow({ symbol, seq, sessionDate, event }: NewEvent): Row<'FlowEvent'> {
  const { legs: _, ...rest } = event;
  return { ...rest, underlying: symbol, sessionDate, seq };
}

/** The rows of an event's legs. */
export function* legRows({ symbol, sessionDate, event }: NewEvent): Generator<Row<'FlowLeg'>> {
  const key = { underlying: symbol, sessionDate, eventId: event.eventId };
  for (const [legIndex, leg] of event.legs.entries())
    yield { ...leg, ...key, legIndex, contract: contractId(leg.contract) };
}

/** Events of an underlying's session, as input of the feed. */
export interface FeedSession {
  symbol: string;
  sessionDate: SessionDate;
  eventIds: string[];
  eventTsMs: number[];
  /** Columns whose changes make an event be sent again. */
  contents: string[];
}

function contentOf({ event }: NewEvent): string {
  const { eventId: _, underlying: _of, eventTsMs: _at, eventKind, legs, totalSize, premiumUsd, ...figures } = event;
  return JSON.stringify([eventKind, totalSize, premiumUsd, ...Object.values(figures), legs.length]);
}

/** Entries of events in the feed. */
export function feedEntries(events: readonly NewEvent[]): Omit<FeedSession, 'symbol' | 'sessionDate'> {
  return {
    eventIds: events.map(({ event }) => event.eventId),
    eventTsMs: events.map(({ event }) => event.eventTsMs),
    contents: events.map(contentOf),
  };
}

/** Events of an underlying's session with their legs, encoded for the store. */
export interface EncodedEvents extends FeedSession {
  events: EncodedRows<'FlowEvent'>;
  legs: EncodedRows<'FlowLeg'>;
}
