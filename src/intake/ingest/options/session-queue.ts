import type { MadeSession, SessionWork, SolvedSession } from './option-session.ts';
import type { TapeThread } from './tape-threads.ts';

/** A session to compute, and its thread. */
export interface QueuedSession {
  work: SessionWork;
  /** Starts its solves; null for one that is not solved. A solved one is computed in the main thread. */
  solved: (() => SolvedSession) | null;
}

// Maximum bytes of finished sessions that wait for earlier ones; beyond it no other is started.
const heldBytesMost = 24 * 1024 * 1024;
const heldMost = 128;

/** Sessions that some threads make, in their order. */
interface Lane {
  idle: TapeThread[];
  items: readonly number[];
  begun: number;
}

const bytesOf = ({ bars, events: { events, legs } }: MadeSession) =>
  [bars, events, legs].flatMap(({ chunks }) => chunks).reduce((sum, { byteLength }) => sum + byteLength, 0);

function lanesOf(sessions: readonly QueuedSession[], main: TapeThread, threads: readonly TapeThread[]): Lane[] {
  const indexes = [...sessions.keys()];
  if (threads.length === 0) return [{ idle: [main], items: indexes, begun: 0 }];
  const isSolved = (index: number) => sessions[index]!.solved !== null;
  return [
    { idle: [main], items: indexes.filter(isSolved), begun: 0 },
    { idle: [...threads], items: indexes.filter((index) => !isSolved(index)), begun: 0 },
  ];
}

/**
 * Sessions being computed, returned in their order regardless of which is finished first. Threads make them, and the
 * main thread those that are solved; without threads the main thread makes all. They are made while those before are
 * written: what is held is bounded.
 */
export class SessionQueue {
  readonly #sessions: readonly QueuedSession[];
  readonly #main: TapeThread;
  readonly #lanes: readonly Lane[];
  /** By index: sessions that are finished and not returned yet. */
  readonly #results = new Map<number, MadeSession>();
  /** Index of the session that is returned next. */
  #next = 0;
  #heldBytes = 0;
  #failure: { error: unknown } | null = null;
  #isClosed = false;
  #byMain: Promise<void> = Promise.resolve();
  #wake = () => {};

  constructor(sessions: readonly QueuedSession[], main: TapeThread, threads: readonly TapeThread[]) {
    this.#sessions = sessions;
    this.#main = main;
    this.#lanes = lanesOf(sessions, main, threads);
  }

  async *made(): AsyncGenerator<MadeSession> {
    while (this.#next < this.#sessions.length) {
      this.#beginNext();
      const made = await this.#finished(this.#next);
      this.#results.delete(this.#next++);
      this.#heldBytes -= bytesOf(made);
      this.#beginNext();
      yield made;
    }
  }

  /** No other session is begun; waits for the one that is being made in the main thread. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#byMain;
  }

  /** A session once it is finished. Throws when the making of one has failed. */
  async #finished(index: number): Promise<MadeSession> {
    for (;;) {
      const made = this.#results.get(index);
      if (made) return made;
      if (this.#failure !== null) throw this.#failure.error;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #beginNext(): void {
    for (const lane of this.#lanes) {
      while (lane.idle.length > 0 && lane.begun < lane.items.length) {
        const index = lane.items[lane.begun]!;
        if (!this.#mayBegin(index)) break;
        lane.begun++;
        const thread = lane.idle.pop()!;
        const making = this.#make(lane, thread, index);
        if (thread === this.#main) this.#byMain = making;
      }
    }
  }

  #mayBegin(index: number): boolean {
    if (this.#isClosed || this.#failure !== null) return false;
    const isFull = this.#heldBytes >= heldBytesMost || this.#results.size >= heldMost;
    return !isFull || index === this.#next;
  }

  async #make(lane: Lane, thread: TapeThread, index: number): Promise<void> {
    const { work, solved } = this.#sessions[index]!;
    try {
      const made = await thread.make(work, solved?.() ?? null);
      this.#results.set(index, made);
      this.#heldBytes += bytesOf(made);
    } catch (error) {
      this.#failure ??= { error };
    }
    lane.idle.push(thread);
    this.#beginNext();
    this.#wake();
  }
}
