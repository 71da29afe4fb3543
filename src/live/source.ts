import type { Caller } from '../access/caller.ts';
import { tradeDate } from '../core/domain/calendar.ts';
import { type Failure, invalidParameter, shuttingDown } from '../platform/wire/failure.ts';
import type { StreamEnd } from '../platform/wire/open-stream.ts';

/** A live event, one object for all subscribers. */
export interface LiveEvent<T = unknown> {
  value: T;
  /** Position of a reader that has received it; '' if it cannot be resumed from. */
  cursor: string;
  /** Its slot: with the policy `latest` it replaces a queued event of the same slot. */
  slot: string;
}

/** One reader's live data: an async iterator, and the wire to end it. */
export interface LiveSource<T = unknown> extends AsyncIterableIterator<LiveEvent<T>> {
  return(): Promise<IteratorResult<LiveEvent<T>>>;
  /** True if its events are one object for all subscribers, who share their answers. */
  readonly isShared: boolean;
  /** Position before its first event; resolves once it has started, or has ended. */
  readonly start: Promise<string>;
  /** Resolves when it has ended in any way: its reader may be waiting for something else then. */
  readonly over: Promise<void>;
  /** Ends it from the server; queued events are dropped. */
  end(end: StreamEnd): void;
  /** Reason for which the server ended it; null while it is open, and if its reader left. */
  readonly ended: StreamEnd | null;
  /** Throws if the caller may not, or no longer, read it. */
  check(caller: Caller): Promise<void>;
}

/** The end of a source whose reading failed. */
export function failedEnd(failure: Failure): StreamEnd {
  return { reason: failure.status === 403 || failure.status === 401 ? 'not_entitled' : 'failed', failure };
}

/** The end of every source at shutdown. */
export function shutdownEnd(): StreamEnd {
  return { reason: 'shutdown', failure: shuttingDown() };
}

/** 400 for a `since` before the first instant that is served, which it names. */
export function tooEarly(firstMs: number, reason: string): Failure {
  const first = `${firstMs} (${new Date(firstMs).toISOString()})`;
  return invalidParameter('since', `${reason}; the earliest time that can be sent is ${first}`);
}

/**
 * Throws 400 if `sinceMs` is of an earlier trade date than the oldest stored data, at `oldestMs`, epoch ms; null =
 * there is none. The trade date of the oldest data is stored from its beginning.
 */
export function requireHeld(sinceMs: number, oldestMs: number | null, data: string): void {
  if (oldestMs !== null && tradeDate(sinceMs) < tradeDate(oldestMs))
    throw tooEarly(oldestMs, `older ${data} are not stored`);
}
