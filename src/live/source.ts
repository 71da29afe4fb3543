import type { Caller } from '../access/caller.ts';
import { type Failure, rateLimited, shuttingDown } from '../wire/failure.ts';
import type { StreamEnd } from '../wire/open-stream.ts';

/** A piece of live data, one object for all subscribers. */
export interface LiveEvent<T = unknown> {
  value: T;
  /** Where a reader stands that has seen it; '' where there is nothing to go on from. */
  cursor: string;
  /** Its slot: with the policy `latest` it replaces a queued event of the same slot. */
  slot: string;
}

/** Events queued for a slow client: the latest of each slot, or all events; at most `mostWaiting`. */
export type QueuePolicy = 'latest' | 'all';

/** Events that may wait for a reader; one more ends its stream. */
export const mostWaiting = 1000;

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

/** The hub's side of a source. */
export interface Mailbox<T> {
  source: LiveSource<T>;
  deliver(event: LiveEvent<T>): void;
  /** Nothing is handed out until what this returns is called, with the events that come before those that wait. */
  hold(): (first: readonly LiveEvent<T>[]) => void;
  /** It is in progress from here. */
  begin(cursor: string): void;
  /** Events that wait for the reader. */
  waiting(): number;
}

/** Parts of a mailbox. */
export interface MailboxParts {
  queued: QueuePolicy;
  check: (caller: Caller) => Promise<void>;
  /** Called once when it is over, however it ended. */
  onClose: () => void;
}

function tooSlow(): StreamEnd {
  const message = `The client is too slow: more than ${mostWaiting} events are queued.`;
  return { reason: 'too_slow', failure: rateLimited(message, 1) };
}

/** Makes a mailbox. */
export function createMailbox<T>({ queued, check, onClose }: MailboxParts): Mailbox<T> {
  const waiting = new Map<unknown, LiveEvent<T>>();
  let first: LiveEvent<T>[] = [];
  let holds = 0;
  let over = false;
  let ended: StreamEnd | null = null;
  let sleeper: (() => void) | null = null;
  const start = Promise.withResolvers<string>();
  const finish = Promise.withResolvers<void>();

  const wake = () => {
    sleeper?.();
    sleeper = null;
  };
  function close(end: StreamEnd | null): void {
    if (over) return;
    over = true;
    ended = end;
    first = [];
    waiting.clear();
    start.resolve('');
    finish.resolve();
    onClose();
    wake();
  }
  function take(): LiveEvent<T> | null {
    if (holds > 0) return null;
    const early = first.shift();
    if (early) return early;
    for (const [key, event] of waiting) {
      waiting.delete(key);
      return event;
    }
    return null;
  }

  const source: LiveSource<T> = {
    start: start.promise,
    over: finish.promise,
    get ended() {
      return ended;
    },
    check,
    end: close,
    async next() {
      for (;;) {
        if (over) return { done: true, value: undefined };
        const event = take();
        if (event) return { done: false, value: event };
        await new Promise<void>((resolve) => {
          sleeper = resolve;
        });
      }
    },
    async return() {
      close(null);
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => source,
  };
  return {
    source,
    deliver(event) {
      if (over) return;
      waiting.set(queued === 'latest' ? event.slot : event, event);
      if (waiting.size > mostWaiting) close(tooSlow());
      else wake();
    },
    hold() {
      holds++;
      return (events) => {
        holds--;
        if (!over) first.push(...events);
        wake();
      };
    },
    begin: start.resolve,
    waiting: () => waiting.size,
  };
}

/** The end of a source whose reading failed. */
export function failedEnd(failure: Failure): StreamEnd {
  return { reason: failure.status === 403 || failure.status === 401 ? 'not_entitled' : 'failed', failure };
}

/** The end of every source when the server stops. */
export function shutdownEnd(): StreamEnd {
  return { reason: 'shutdown', failure: shuttingDown() };
}
