import { contractId } from '../../domain/chain/option-contract.ts';
import type { FlowEvent } from '../../domain/flow/flow.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import type { EncodedRows } from '../rows/models/encoded-rows.ts';
import type { Row } from '../rows/models/sets.ts';

/** An event to be stored. */
export interface NewEvent {
  /** The underlying. */
  symbol: string;
  sessionDate: SessionDate;
  seq: number;
  event: FlowEvent;
}

/** An event as it is stored. */
export function eventRow({ symbol, seq, sessionDate, event }: NewEvent): Row<'FlowEvent'> {
  const { legs: _, ...rest } = event;
  return { ...rest, underlying: symbol, sessionDate, seq };
}

/** The legs of an event as they are stored. */
export function* legRows({ symbol, sessionDate, event }: NewEvent): Generator<Row<'FlowLeg'>> {
  const key = { underlying: symbol, sessionDate, eventId: event.eventId };
  for (const [legIndex, leg] of event.legs.entries())
    yield { ...leg, ...key, legIndex, contract: contractId(leg.contract) };
}

/** Events of an underlying's session, as the feed takes them. */
export interface FeedSession {
  symbol: string;
  sessionDate: SessionDate;
  eventIds: string[];
  eventTsMs: number[];
  /** Columns of an event that are sent again when it changes. */
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

/** Events of an underlying's session with their legs, as the store takes them. */
export interface EncodedEvents extends FeedSession {
  events: EncodedRows<'FlowEvent'>;
  legs: EncodedRows<'FlowLeg'>;
}
