import type { Caller } from '../access/caller.ts';
import { rateLimited } from '../platform/wire/failure.ts';
import type { StreamEnd } from '../platform/wire/open-stream.ts';
import type { LiveEvent, LiveSource } from './source.ts';

/** Events queued for a slow client: the latest of each slot, or all events; at most `mostWaiting`. */
export type QueuePolicy = 'latest' | 'all';

/** Events that may wait for a reader; one more ends its stream. */
export const mostWaiting = 1000;

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

/** A source as the hub sees it: events are delivered to it, and wait until its reader takes them. */
export class Mailbox<T> implements LiveSource<T> {
  readonly isShared = true;
  readonly #queued: QueuePolicy;
  readonly #check: (caller: Caller) => Promise<void>;
  readonly #onClose: () => void;
  readonly #waiting = new Map<unknown, LiveEvent<T>>();
  /** Events that come before those that wait. */
  #first: LiveEvent<T>[] = [];
  #holds = 0;
  #isOver = false;
  #ended: StreamEnd | null = null;
  /** Wakes the reader that waits for an event. */
  #sleeper: (() => void) | null = null;
  readonly #start = Promise.withResolvers<string>();
  readonly #finish = Promise.withResolvers<void>();
  readonly start = this.#start.promise;
  readonly over = this.#finish.promise;

  constructor({ queued, check, onClose }: MailboxParts) {
    this.#queued = queued;
    this.#check = check;
    this.#onClose = onClose;
  }

  get ended(): StreamEnd | null {
    return this.#ended;
  }

  /** Events that wait for the reader. */
  get waiting(): number {
    return this.#waiting.size;
  }

  check(caller: Caller): Promise<void> {
    return this.#check(caller);
  }

  deliver(event: LiveEvent<T>): void {
    if (this.#isOver) return;
    this.#waiting.set(this.#queued === 'latest' ? event.slot : event, event);
    if (this.#waiting.size > mostWaiting) this.end(tooSlow());
    else this.#wake();
  }

  /** Nothing is handed out until what this returns is called, with the events that come before those that wait. */
  hold(): (first: readonly LiveEvent<T>[]) => void {
    this.#holds++;
    return (events) => {
      this.#holds--;
      if (!this.#isOver) this.#first.push(...events);
      this.#wake();
    };
  }

  /** It is in progress from here. */
  begin(cursor: string): void {
    this.#start.resolve(cursor);
  }

  end(end: StreamEnd): void {
    this.#close(end);
  }

  async next(): Promise<IteratorResult<LiveEvent<T>>> {
    for (;;) {
      if (this.#isOver) return { done: true, value: undefined };
      const event = this.#take();
      if (event) return { done: false, value: event };
      await new Promise<void>((resolve) => {
        this.#sleeper = resolve;
      });
    }
  }

  async return(): Promise<IteratorResult<LiveEvent<T>>> {
    this.#close(null);
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #take(): LiveEvent<T> | null {
    if (this.#holds > 0) return null;
    const early = this.#first.shift();
    if (early) return early;
    for (const [key, event] of this.#waiting) {
      this.#waiting.delete(key);
      return event;
    }
    return null;
  }

  #wake(): void {
    this.#sleeper?.();
    this.#sleeper = null;
  }

  #close(end: StreamEnd | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#ended = end;
    this.#first = [];
    this.#waiting.clear();
    this.#start.resolve('');
    this.#finish.resolve();
    this.#onClose();
    this.#wake();
  }
}
