import type { Caller } from '../access/caller.ts';
import type { OneCommit } from '../platform/runtime/once-per-request.ts';
import { forEverybody, forThisRequest } from '../platform/runtime/request-scope.ts';
import { type Failure, knownFailure, rateLimited, sourceFailed } from '../platform/wire/failure.ts';
import type { StreamEnd } from '../platform/wire/open-stream.ts';
import type { Change } from '../store/versions/subjects.ts';
import { failedEnd, type LiveEvent, type LiveSource } from './source.ts';

/** Events queued for a slow client: the latest of each slot, or all events; at most `mostWaiting`. */
type QueuePolicy = 'latest' | 'all';

/** Events that may wait for a reader; one more ends its stream. */
const mostWaiting = 1000;

/** Parts of a mailbox. */
interface MailboxParts {
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
class Mailbox<T> implements LiveSource<T> {
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

/** A topic as read: its state, and the events since the state before. */
export interface Reading<S, T> {
  state: S;
  events: readonly LiveEvent<T>[];
}

/** A kind of live data: how its topics are read, for all subscribers. */
export interface TopicKind<S, T> {
  /** The dataset behind it, for the error if it fails. */
  dataset: string;
  queued: QueuePolicy;
  /** True if a change may concern the topic `key`. */
  concerns(key: string, change: Change): boolean;
  /**
   * Reads topics as of `nowMs`, in a bounded number of statements; the previous state is null without earlier
   * subscribers.
   */
  read(topics: ReadonlyMap<string, S | null>, nowMs: number, change: Change): Promise<Map<string, Reading<S, T>>>;
  /** Events sent to a new subscriber immediately. */
  first(state: S): readonly LiveEvent<T>[];
  /** The whole seconds in (fromMs, toMs], epoch ms, at the end of which topics may have changed, for replays. */
  instants(keys: readonly string[], fromMs: number, toMs: number): Promise<Iterable<number>>;
  /** The position of a new subscriber without events. */
  cursor(state: S): string;
}

/** A reader's subscription to a topic. */
export interface Following<S, T> {
  keys: readonly string[];
  /**
   * The former position, '' if only its instant is known, and the read of missed events up to a state; null = a new
   * subscription. Only with one key.
   */
  resume: { after: string; read: (state: S) => Promise<readonly LiveEvent<T>[]> } | null;
  /** Filter of events; absent = all. */
  wants?: (value: T) => boolean;
  /** Events to send first. */
  early?: readonly LiveEvent<T>[];
  check: (caller: Caller) => Promise<void>;
}

interface Member<S, T> {
  mailbox: Mailbox<T>;
  following: Following<S, T>;
  /** True if it has received the state of its topic. */
  joined: boolean;
}

interface Topic<S, T> {
  state: S | null;
  members: Set<Member<S, T>>;
}

/** Parts of the topics of a kind. */
interface TopicsParts extends OneCommit {
  now: () => number;
  /** Called for the first of several consecutive failed reads; they are retried. */
  onError: (failure: Failure) => void;
  /** Runs `work` after this many ms. */
  later: (ms: number, work: () => void) => void;
}

const retryMs = 500;

/** Many events are sent in parts of this size; between parts, clients have time to read. */
const part = mostWaiting / 4;
/** Longest wait for the readers of many events, ms, so that one that does not read cannot delay the others. */
const patienceMs = 1000;
const lookMs = 10;

function merged(a: Change, b: Change): Change {
  const both: Record<string, readonly string[] | null> = { ...a };
  for (const [kind, symbols] of Object.entries(b)) {
    const before = both[kind];
    both[kind] = before === undefined ? symbols : before === null || symbols === null ? null : [...before, ...symbols];
  }
  return both as Change;
}

/**
 * Follows the topics of a kind. A topic is read once, regardless of the number of its subscribers; a change during a
 * read is covered by the next read.
 */
export class Topics<S, T> {
  readonly #kind: TopicKind<S, T>;
  readonly #now: TopicsParts['now'];
  readonly #onError: TopicsParts['onError'];
  readonly #later: TopicsParts['later'];
  readonly #ofOneCommit: TopicsParts['ofOneCommit'];
  readonly #topics = new Map<string, Topic<S, T>>();
  readonly #dirty = new Set<string>();
  #change: Change = {};
  #running = false;
  #failing = false;

  constructor(kind: TopicKind<S, T>, { now, onError, later, ofOneCommit }: TopicsParts) {
    this.#kind = kind;
    this.#now = now;
    this.#onError = onError;
    this.#later = later;
    this.#ofOneCommit = ofOneCommit;
  }

  /** Subscribes to topics; events follow once the first state of each is read. */
  follow(asked: Following<S, T>): LiveSource<T> {
    const { resume } = asked;
    const following = resume ? { ...asked, resume: { ...resume, read: forThisRequest(resume.read) } } : asked;
    const memberships = new Map<string, Member<S, T>>();
    const onClose = () => {
      for (const [key, member] of memberships) this.#leave(key, member);
    };
    const mailbox = new Mailbox<T>({ queued: this.#kind.queued, check: following.check, onClose });
    for (const event of following.early ?? []) mailbox.deliver(event);
    if (following.keys.length === 0) mailbox.begin('');
    for (const key of following.keys) {
      if (memberships.has(key)) continue;
      const member = { mailbox, following, joined: false };
      const topic = this.#topics.get(key) ?? { state: null, members: new Set() };
      topic.members.add(member);
      this.#topics.set(key, topic);
      memberships.set(key, member);
      this.#dirty.add(key);
    }
    this.#start();
    return mailbox;
  }

  /** Reads the topics concerned by a change again. */
  wake(changed: Change): void {
    let touched = false;
    for (const key of this.#topics.keys()) {
      if (!this.#kind.concerns(key, changed)) continue;
      this.#dirty.add(key);
      touched = true;
    }
    if (!touched) return;
    this.#change = merged(this.#change, changed);
    this.#start();
  }

  /** Number of followed topics. */
  count(): number {
    return this.#topics.size;
  }

  #leave(key: string, member: Member<S, T>): void {
    const topic = this.#topics.get(key);
    topic?.members.delete(member);
    if (topic?.members.size === 0) this.#topics.delete(key);
  }

  #join(state: S, member: Member<S, T>): void {
    const { mailbox, following } = member;
    member.joined = true;
    if (following.resume === null) {
      const first = this.#kind.first(state).filter(({ value }) => following.wants?.(value) ?? true);
      for (const event of first) mailbox.deliver(event);
      // A client that is disconnected before it receives this starts again.
      mailbox.begin(first.length > 0 ? '' : this.#kind.cursor(state));
      return;
    }
    // New events wait until the missed ones are sent. If those cannot be sent, the stream does not begin.
    const { after, read } = following.resume;
    const release = mailbox.hold();
    read(state).then(
      (missed) => {
        mailbox.begin(after);
        release(missed);
      },
      (error: unknown) => mailbox.end(failedEnd(this.#failureOf(error))),
    );
  }

  #failureOf(error: unknown): Failure {
    return knownFailure(error) ?? sourceFailed(this.#kind.dataset, error);
  }

  /** Resolves when no reader has many queued events, or the wait is over. */
  async #room(readers: readonly Member<S, T>[]): Promise<void> {
    for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += lookMs) {
      if (readers.every(({ mailbox }) => mailbox.waiting <= part)) return;
      await new Promise<void>((resolve) => this.#later(lookMs, resolve));
    }
  }

  async #send(key: string, { state, events }: Reading<S, T>): Promise<void> {
    const topic = this.#topics.get(key);
    if (!topic) return;
    topic.state = state;
    const readers = [...topic.members].filter(({ joined }) => joined);
    for (const member of topic.members) if (!member.joined) this.#join(state, member);
    for (let from = 0; from < events.length; from += part) {
      if (from > 0) await this.#room(readers);
      for (const { mailbox, following } of readers)
        for (const event of events.slice(from, from + part))
          if (following.wants?.(event.value) ?? true) mailbox.deliver(event);
    }
  }

  /** Readers that wait for their first state get the failure; the others wait for the next read. */
  #failed(keys: readonly string[], error: unknown): void {
    const failure = this.#failureOf(error);
    for (const key of keys) {
      const members = [...(this.#topics.get(key)?.members ?? [])];
      for (const member of members) if (!member.joined) member.mailbox.end(failedEnd(failure));
      if (this.#topics.has(key)) this.#dirty.add(key);
    }
    if (!this.#failing) this.#onError(failure);
    this.#failing = true;
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#dirty.size > 0) {
      const keys = [...this.#dirty].filter((key) => this.#topics.has(key));
      const reason = this.#change;
      this.#dirty.clear();
      this.#change = {};
      if (keys.length === 0) continue;
      try {
        const asked = new Map(keys.map((key) => [key, this.#topics.get(key)!.state]));
        const read = await this.#ofOneCommit(() => this.#kind.read(asked, this.#now(), reason), true);
        for (const [key, reading] of read) await this.#send(key, reading);
        this.#failing = false;
      } catch (error) {
        this.#failed(keys, error);
        this.#change = merged(this.#change, reason);
        this.#later(retryMs, () => void this.#run());
        return;
      }
    }
    this.#running = false;
  }

  #start(): void {
    // The first subscriber starts the read for all.
    if (!this.#running) forEverybody(() => void this.#run());
  }
}
