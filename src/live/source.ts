import type { Caller } from '../access/caller.ts';
import { type Failure, shuttingDown } from '../wire/failure.ts';
import type { StreamEnd } from '../wire/open-stream.ts';

/** A piece of live data, one object for all subscribers. */
export interface LiveEvent<T = unknown> {
  value: T;
  /** Where a reader stands that has seen it; '' where there is nothing to go on from. */
  cursor: string;
  /** Its slot: with the policy `latest` it replaces a queued event of the same slot. */
  slot: string;
}

/** One reader's live data: an async iterator, and the wire to end it. */
export interface LiveSource<T = unknown> extends AsyncIterableIterator<LiveEvent<T>> {
  return(): Promise<IteratorResult<LiveEvent<T>>>;
  /** Where it stands before its first event; resolved once it is in progress, or has ended. */
  readonly start: Promise<string>;
  /** Resolved when it is over, however it ended: its reader may be waiting for something else just then. */
  readonly over: Promise<void>;
  /** Ends it from this side; what waits is dropped. */
  end(end: StreamEnd): void;
  /** Why it was ended from this side; null while it lasts, and when its reader left. */
  readonly ended: StreamEnd | null;
  /** Throws when the caller may not read it (any more). */
  check(caller: Caller): Promise<void>;
}

/** The end of a source whose reading failed. */
export function failedEnd(failure: Failure): StreamEnd {
  return { reason: failure.status === 403 || failure.status === 401 ? 'not_entitled' : 'failed', failure };
}

/** The end of every source when the server stops. */
export function shutdownEnd(): StreamEnd {
  return { reason: 'shutdown', failure: shuttingDown() };
}
