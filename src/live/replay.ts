import type { Caller } from '../access/caller.ts';
import { tradeSpanAt } from '../core/domain/calendar.ts';
import { invalidParameter, knownFailure, sourceFailed } from '../platform/wire/failure.ts';
import type { StreamEnd } from '../platform/wire/open-stream.ts';
import type { Store } from '../store/rows/connection.ts';
import { requiredPart } from '../store/rows/required-part.ts';
import { readsOf } from '../store/versions/reads.ts';
import { anyChange } from '../store/versions/subjects.ts';
import type { Pace } from './hub.ts';
import { replayStepMs } from './replay-instants.ts';
import { failedEnd, type LiveEvent, type LiveSource } from './source.ts';
import type { Following, TopicKind } from './topics.ts';

/** A topic's reads for a replay, one after the other. */
export interface Track<E> {
  /** Number of states that a read reads. */
  reads: number;
  /** Reads the states as of `nowMs`, epoch ms: the events that a new subscriber gets. */
  begin(nowMs: number): Promise<E[]>;
  /** Reads them again: the events since the read before. */
  next(nowMs: number): Promise<E[]>;
  /** The instants in (fromMs, toMs] at which there may be events. */
  instants(fromMs: number, toMs: number): Promise<Iterable<number>>;
  check(caller: Caller): Promise<void>;
}

/** The track of a topic: the reads of live subscribers, of a store whose clock is moved. `event` is what it sends. */
export function trackOf<S, T, E>(
  shared: Store,
  kindOf: (store: Store) => TopicKind<S, T>,
  { keys, wants, early = [], check }: Following<S, T>,
  event: (value: T) => E,
): Track<E> {
  const { store, ofOneCommit } = readsOf(shared);
  const kind = kindOf(store);
  let states = new Map<string, S | null>(keys.map((key) => [key, null]));
  const sent = (events: readonly LiveEvent<T>[]) =>
    events.filter(({ value }) => wants?.(value) ?? true).map(({ value }) => event(value));
  async function read(nowMs: number) {
    try {
      const found = await ofOneCommit(() => kind.read(states, nowMs, anyChange), true);
      states = new Map(keys.map((key) => [key, found.get(key)?.state ?? null]));
      return keys.map((key) => requiredPart(found, key, 'topic'));
    } catch (error) {
      throw knownFailure(error) ?? sourceFailed(kind.dataset, error);
    }
  }
  return {
    reads: Math.max(1, keys.length),
    begin: async (nowMs) =>
      sent([...early, ...(keys.length === 0 ? [] : (await read(nowMs)).flatMap(({ state }) => kind.first(state)))]),
    next: async (nowMs) => sent((await read(nowMs)).flatMap(({ events }) => events)),
    instants: async (fromMs, toMs) => (keys.length === 0 ? [] : kind.instants([...keys], fromMs, toMs)),
    check,
  };
}

/** An event of a replay, and the instant at which it is sent, epoch ms; null = the end. */
export interface Replayed<E> {
  atMs: number;
  event: E | null;
}

/** The lane and the price of a replay's work. */
export interface ReplayToll {
  /** Resolves when the caller's next piece of work may run. */
  turn(isOver: () => boolean): Promise<void>;
  /** Takes points from the caller's minute. Returns the ms after which to try again, with none; 0 = all is paid. */
  pay(points: number): Promise<number>;
  /** Points of the answer to an event. */
  eventPoints: number;
}

/** Parts of a replay. */
export interface ReplayParts<E> {
  toll: ReplayToll;
  tracks: readonly Track<E>[];
  /** Whole seconds, epoch ms. */
  fromMs: number;
  toMs: number;
  /** Seconds of the past per second. */
  speed: number;
  pace: Pace;
  /** Position of an earlier replay; null = from the start. */
  after: string | null;
}

/** Shortest time between two reads of a topic, ms: bounds what a replay costs per second. */
const readMs = 2;

/** Points of reading a state of a topic again: its first is paid when the replay is asked for. */
const statePoints = 0.5;

/** The position after the `count`th event of an instant, or the end. */
const positionOf = (atMs: number, count: number) => `${atMs}.${count}`;

function parsePosition(text: string, { fromMs, toMs }: { fromMs: number; toMs: number }) {
  const [, at, count] = /^(\d{1,15})\.(\d{1,9})$/.exec(text) ?? [];
  const atMs = Number(at);
  if (at === undefined || atMs < fromMs || atMs > toMs || atMs % replayStepMs !== 0)
    throw invalidParameter('after', 'expected a position in this replay');
  return { atMs, count: Number(count) };
}

/**
 * Events of the past in the order and at the pace of their time. They are read when the reader asks for the next one:
 * one that reads slowly delays its replay, and nothing is dropped.
 */
export class Replay<E> implements LiveSource<Replayed<E>> {
  readonly isShared = false;
  readonly #parts: ReplayParts<E>;
  readonly #resumed: { atMs: number; count: number } | null;
  readonly #finish = Promise.withResolvers<void>();
  readonly #events: AsyncGenerator<LiveEvent<Replayed<E>>>;
  #ended: StreamEnd | null = null;
  #isOver = false;
  /** When it began, on its pace's clock, and up to when its reads are paid for. */
  #beganMs = 0;
  #freeMs = 0;
  #cancelWait = () => {};
  readonly start: Promise<string>;
  readonly over = this.#finish.promise;

  /** Throws 400 for an invalid position. */
  constructor(parts: ReplayParts<E>) {
    this.#parts = parts;
    this.#resumed = parts.after === null ? null : parsePosition(parts.after, parts);
    const first = this.#begin();
    this.#events = this.#all(first);
    this.start = first.then(
      () => parts.after ?? positionOf(parts.fromMs, 0),
      (error: unknown) => {
        this.#fail(error);
        return '';
      },
    );
  }

  get ended(): StreamEnd | null {
    return this.#ended;
  }

  async check(caller: Caller): Promise<void> {
    for (const track of this.#parts.tracks) await track.check(caller);
  }

  end(end: StreamEnd): void {
    this.#close(end);
  }

  async next(): Promise<IteratorResult<LiveEvent<Replayed<E>>>> {
    const done = { done: true, value: undefined } as const;
    if (this.#isOver) return done;
    try {
      const result = await Promise.race([this.#events.next(), this.over.then(() => done)]);
      if (result.done) this.#close(null);
      return result;
    } catch (error) {
      this.#fail(error);
      return done;
    }
  }

  async return(): Promise<IteratorResult<LiveEvent<Replayed<E>>>> {
    this.#close(null);
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #fail(error: unknown): void {
    this.#close(failedEnd(knownFailure(error) ?? sourceFailed('replay', error)));
  }

  #close(end: StreamEnd | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#ended = end;
    this.#cancelWait();
    this.#finish.resolve();
  }

  /** The instant of the first states: the start, or that before the position of a resumed replay. */
  #originMs(): number {
    return this.#isFromStart() ? this.#parts.fromMs : this.#resumed!.atMs - replayStepMs;
  }

  /** True if the first states are sent, or those that remain of them. */
  #isFromStart(): boolean {
    return this.#resumed === null || this.#resumed.atMs === this.#parts.fromMs;
  }

  async #begin(): Promise<E[]> {
    const { tracks, pace } = this.#parts;
    this.#beganMs = pace.now();
    const first: E[] = [];
    for (const track of tracks) {
      await this.#turn();
      first.push(...(await track.begin(this.#originMs())));
    }
    return this.#isFromStart() ? first : [];
  }

  async *#all(first: Promise<E[]>): AsyncGenerator<LiveEvent<Replayed<E>>> {
    const { toMs } = this.#parts;
    let atMs = this.#originMs();
    yield* this.#sent(atMs, await first);
    while (atMs < toMs && !this.#isOver) {
      const untilMs = Math.min(tradeSpanAt(atMs).toMs, toMs);
      for (const [instant, due] of await this.#instants(atMs, untilMs)) {
        await this.#wait(instant);
        if (this.#isOver) return;
        const events: E[] = [];
        for (const track of due) {
          await this.#pay(track.reads * statePoints);
          await this.#turn();
          if (this.#isOver) return;
          this.#freeMs = Math.max(this.#freeMs, this.#parts.pace.now()) + track.reads * readMs;
          events.push(...(await track.next(instant)));
        }
        yield* this.#sent(instant, events);
        await this.#pay(events.length * this.#parts.toll.eventPoints);
      }
      atMs = untilMs;
    }
    await this.#wait(toMs);
    yield { value: { atMs: toMs, event: null }, cursor: '', slot: '' };
  }

  *#sent(atMs: number, events: readonly E[]): Generator<LiveEvent<Replayed<E>>> {
    const skipped = this.#resumed?.atMs === atMs ? this.#resumed.count : 0;
    for (const [i, event] of events.entries())
      if (i >= skipped) yield { value: { atMs, event }, cursor: positionOf(atMs, i + 1), slot: '' };
  }

  /** The instants in (fromMs, toMs], ascending, each with the tracks that are read then. */
  async #instants(fromMs: number, toMs: number): Promise<[number, readonly Track<E>[]][]> {
    const due = new Map<number, Track<E>[]>();
    for (const track of this.#parts.tracks)
      for (const instant of await track.instants(fromMs, toMs)) {
        const tracks = due.get(instant);
        if (!tracks) due.set(instant, [track]);
        else if (tracks.at(-1) !== track) tracks.push(track);
      }
    return [...due].sort(([a], [b]) => a - b);
  }

  /** Waits for a turn in the caller's lane. */
  #turn(): Promise<void> {
    return this.#parts.toll.turn(() => this.#isOver);
  }

  /** Pays for work, and waits for the next minute while this one is spent. */
  async #pay(points: number): Promise<void> {
    const { pace, toll } = this.#parts;
    for (let ms = await toll.pay(points); ms > 0 && !this.#isOver; ms = await toll.pay(0))
      await this.#until(pace.now() + ms);
  }

  /** Waits until an instant is due, and its reads are paid for. */
  #wait(atMs: number): Promise<void> {
    return this.#until(Math.max(this.#beganMs + (atMs - this.#originMs()) / this.#parts.speed, this.#freeMs));
  }

  /** Waits until an instant of its pace, unless it ends before. */
  async #until(dueMs: number): Promise<void> {
    const { pace } = this.#parts;
    while (!this.#isOver && pace.now() < dueMs)
      await new Promise<void>((resolve) => {
        const cancel = pace.later(dueMs - pace.now(), resolve);
        this.#cancelWait = () => {
          cancel();
          resolve();
        };
      });
  }
}
