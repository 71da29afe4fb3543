import type { MadeSession, SessionWork, SolvedSession } from './option-session.ts';
import type { TapeThread } from './tape-threads.ts';

/** A session to be computed, and the thread that computes it. */
export interface QueuedSession {
  work: SessionWork;
  /** Begins its solves; null for one that is not solved. One that is, is made in the main thread. */
  solved: (() => SolvedSession) | null;
}

// Maximum bytes of sessions that are finished before they are next in order; beyond it no other is started.
const heldBytesMost = 24 * 1024 * 1024;
const heldMost = 128;

/** Sessions being computed, returned in their order regardless of which is finished first. */
export interface SessionQueue {
  made(): AsyncGenerator<MadeSession>;
  /** No other session is begun; waits for the one that is being made in the main thread. */
  close(): Promise<void>;
}

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
 * Has sessions made by threads, and those that are solved by the main thread; without threads the main thread makes
 * all. They are made while those before are written: what is held is bounded.
 */
export function sessionQueue(
  sessions: readonly QueuedSession[],
  main: TapeThread,
  threads: readonly TapeThread[],
): SessionQueue {
  const lanes = lanesOf(sessions, main, threads);
  const results = new Map<number, MadeSession>();
  let next = 0;
  let heldBytes = 0;
  let failure: { error: unknown } | null = null;
  let isClosed = false;
  let byMain: Promise<void> = Promise.resolve();
  let wake = () => {};

  async function make(lane: Lane, thread: TapeThread, index: number): Promise<void> {
    const { work, solved } = sessions[index]!;
    try {
      const made = await thread.make(work, solved?.() ?? null);
      results.set(index, made);
      heldBytes += bytesOf(made);
    } catch (error) {
      failure ??= { error };
    }
    lane.idle.push(thread);
    beginNext();
    wake();
  }

  function beginNext(): void {
    for (const lane of lanes) {
      while (lane.idle.length > 0 && lane.begun < lane.items.length) {
        const index = lane.items[lane.begun]!;
        const isFull = heldBytes >= heldBytesMost || results.size >= heldMost;
        if (isClosed || failure !== null || (isFull && index !== next)) break;
        lane.begun++;
        const thread = lane.idle.pop()!;
        const making = make(lane, thread, index);
        if (thread === main) byMain = making;
      }
    }
  }

  return {
    async *made() {
      while (next < sessions.length) {
        beginNext();
        while (!results.has(next)) {
          if (failure !== null) throw failure.error;
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
        const made = results.get(next)!;
        results.delete(next++);
        heldBytes -= bytesOf(made);
        beginNext();
        yield made;
      }
    },
    async close() {
      isClosed = true;
      await byMain;
    },
  };
}
