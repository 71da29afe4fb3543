import type { Caller } from '../access/caller.ts';
import { forEverybody, forThisRequest } from '../runtime/request-scope.ts';
import type { Change } from '../store/versions/subjects.ts';
import { Failure, sourceFailed } from '../wire/failure.ts';
import {
  createMailbox,
  failedEnd,
  type LiveEvent,
  type LiveSource,
  type Mailbox,
  mostWaiting,
  type QueuePolicy,
} from './source.ts';

/** A topic as it was read: how it stands, and what is new since the state before. */
export interface Reading<S, T> {
  state: S;
  events: readonly LiveEvent<T>[];
}

/** A kind of live data: how its topics are read, for all subscribers. */
export interface TopicKind<S, T> {
  /** The dataset it comes from, for the error if it fails. */
  dataset: string;
  queued: QueuePolicy;
  /** True if a change may be of the topic `key`. */
  concerns(key: string, change: Change): boolean;
  /**
   * Topics as they are at `nowMs`, in a bounded number of statements; the state before is null where nobody followed.
   */
  read(topics: ReadonlyMap<string, S | null>, nowMs: number, change: Change): Promise<Map<string, Reading<S, T>>>;
  /** Events sent to a new subscriber at once. */
  first(state: S): readonly LiveEvent<T>[];
  /** The position of a new subscriber to which nothing was sent. */
  cursor(state: S): string;
}

/** A reader's subscription to a topic. */
export interface Following<S, T> {
  keys: readonly string[];
  /** Where it stood before, and how what it missed up to a state is read; null = it begins. Of use with one key. */
  resume: { after: string; read: (state: S) => Promise<readonly LiveEvent<T>[]> } | null;
  /** Which events it wants; absent = all. */
  wants?: (value: T) => boolean;
  /** Events sent to it first. */
  early?: readonly LiveEvent<T>[];
  check: (caller: Caller) => Promise<void>;
}

/** The topics of a kind that have subscribers. */
export interface Topics<S, T> {
  follow(following: Following<S, T>): LiveSource<T>;
  /** Something changed: the topics concerned are read again. */
  wake(change: Change): void;
  /** Topics followed now. */
  count(): number;
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
export interface TopicsParts {
  now: () => number;
  /** Called for the first of several consecutive reads that failed; they are retried. */
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
export function createTopics<S, T>(kind: TopicKind<S, T>, { now, onError, later }: TopicsParts): Topics<S, T> {
  const topics = new Map<string, Topic<S, T>>();
  const dirty = new Set<string>();
  let change: Change = {};
  let running = false;
  let failing = false;

  function leave(key: string, member: Member<S, T>): void {
    const topic = topics.get(key);
    topic?.members.delete(member);
    if (topic?.members.size === 0) topics.delete(key);
  }

  function join(state: S, member: Member<S, T>): void {
    const { mailbox, following } = member;
    member.joined = true;
    if (following.resume === null) {
      const first = kind.first(state).filter(({ value }) => following.wants?.(value) ?? true);
      for (const event of first) mailbox.deliver(event);
      // A client that is disconnected before it receives this starts again.
      mailbox.begin(first.length > 0 ? '' : kind.cursor(state));
      return;
    }
    // New events wait until the missed ones are sent.
    const release = mailbox.hold();
    mailbox.begin(following.resume.after);
    following.resume.read(state).then(release, (error: unknown) => mailbox.source.end(failedEnd(failureOf(error))));
  }
  const failureOf = (error: unknown) => (error instanceof Failure ? error : sourceFailed(kind.dataset, error));

  /** Resolved when no reader has much waiting, or has had its time. */
  async function room(readers: readonly Member<S, T>[]): Promise<void> {
    for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += lookMs) {
      if (readers.every(({ mailbox }) => mailbox.waiting() <= part)) return;
      await new Promise<void>((resolve) => later(lookMs, resolve));
    }
  }

  async function send(key: string, { state, events }: Reading<S, T>): Promise<void> {
    const topic = topics.get(key);
    if (!topic) return;
    topic.state = state;
    const readers = [...topic.members].filter(({ joined }) => joined);
    for (const member of topic.members) if (!member.joined) join(state, member);
    for (let start = 0; start < events.length; start += part) {
      if (start > 0) await room(readers);
      for (const { mailbox, following } of readers)
        for (const event of events.slice(start, start + part))
          if (following.wants?.(event.value) ?? true) mailbox.deliver(event);
    }
  }

  /** Those that wait for their first state learn that there is none to be had; the others wait for the next read. */
  function failed(keys: readonly string[], error: unknown): void {
    const failure = failureOf(error);
    for (const key of keys) {
      const members = [...(topics.get(key)?.members ?? [])];
      for (const member of members) if (!member.joined) member.mailbox.source.end(failedEnd(failure));
      if (topics.has(key)) dirty.add(key);
    }
    if (!failing) onError(failure);
    failing = true;
  }

  async function run(): Promise<void> {
    running = true;
    while (dirty.size > 0) {
      const keys = [...dirty].filter((key) => topics.has(key));
      const reason = change;
      dirty.clear();
      change = {};
      if (keys.length === 0) continue;
      try {
        const asked = new Map(keys.map((key) => [key, topics.get(key)!.state]));
        for (const [key, reading] of await kind.read(asked, now(), reason)) await send(key, reading);
        failing = false;
      } catch (error) {
        failed(keys, error);
        change = merged(change, reason);
        later(retryMs, () => void run());
        return;
      }
    }
    running = false;
  }
  function start(): void {
    // The first subscriber starts the read for all.
    if (!running) forEverybody(() => void run());
  }

  return {
    follow(asked) {
      const { resume } = asked;
      const following = resume ? { ...asked, resume: { ...resume, read: forThisRequest(resume.read) } } : asked;
      const memberships = new Map<string, Member<S, T>>();
      const onClose = () => {
        for (const [key, member] of memberships) leave(key, member);
      };
      const mailbox = createMailbox<T>({ queued: kind.queued, check: following.check, onClose });
      for (const event of following.early ?? []) mailbox.deliver(event);
      if (following.keys.length === 0) mailbox.begin('');
      for (const key of following.keys) {
        if (memberships.has(key)) continue;
        const member = { mailbox, following, joined: false };
        const topic = topics.get(key) ?? { state: null, members: new Set() };
        topic.members.add(member);
        topics.set(key, topic);
        memberships.set(key, member);
        dirty.add(key);
      }
      start();
      return mailbox.source;
    },
    wake(changed) {
      let touched = false;
      for (const key of topics.keys()) {
        if (!kind.concerns(key, changed)) continue;
        dirty.add(key);
        touched = true;
      }
      if (!touched) return;
      change = merged(change, changed);
      start();
    },
    count: () => topics.size,
  };
}
