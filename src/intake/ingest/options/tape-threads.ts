import { Worker } from 'node:worker_threads';
import { mostRecords, type RecordPiece, recordWidth } from '../../tape/prints/option-records.ts';
import type { MadeSession, SessionWork, SolvedSession } from './option-session.ts';
import { createTapeWork, type TapeStage } from './tape-work.ts';

/** Messages to a thread. Named memory is transferred with them, and returned with the answer. */
export type ToThread =
  | TapeStage
  | { kind: 'piece'; text: ArrayBuffer; length: number; records: ArrayBuffer }
  | { kind: 'session'; work: SessionWork };

/** A piece that was read. Its records are valid until the next piece of the thread is sent after it was handled. */
export interface ReadPiece {
  piece: RecordPiece;
  records: Uint32Array;
  /** Allows reuse of the memory. */
  release(): void;
}

/** A thread that works on a tape. */
export interface TapeThread {
  begin(stage: TapeStage): void;
  read(bytes: Buffer): Promise<ReadPiece>;
  /** `solved` only in the main thread, which has the database. */
  make(work: SessionWork, solved: SolvedSession | null): Promise<MadeSession>;
  close(): Promise<void>;
}

// Memory of a thread: four times a piece of an unpacked file.
const leastMemory = 2 ** 20;
// Objects of a session are short-lived: a larger young generation avoids copying them.
const youngGenerationMb = 16;

const recordsFor = (bytes: number) => new ArrayBuffer(mostRecords(bytes) * recordWidth * 4);

/** The main thread as a tape thread. */
export function mainThread(): TapeThread {
  const work = createTapeWork();
  let records = new Uint32Array(0);
  return {
    begin: work.begin,
    async read(bytes) {
      if (records.byteLength < mostRecords(bytes.length) * recordWidth * 4)
        records = new Uint32Array(recordsFor(Math.max(bytes.length, leastMemory / 4)));
      return { piece: work.read(bytes, records), records, release() {} };
    },
    make: work.make,
    async close() {},
  };
}

interface Waiting {
  resolve(value: never): void;
  reject(error: unknown): void;
}

/** Starts a thread. A failure in it rejects the request. */
export function workerThread(): TapeThread {
  const worker = new Worker(new URL('./tape-worker.ts', import.meta.url), {
    resourceLimits: { maxYoungGenerationSizeMb: youngGenerationMb },
  });
  const waiting: Waiting[] = [];
  const free: { text: ArrayBuffer; records: ArrayBuffer }[] = [];
  let failure: unknown = null;
  function fail(error: unknown) {
    failure ??= error;
    for (const { reject } of waiting.splice(0)) reject(failure);
  }
  worker.on('message', (answer: { value: never } | { error: unknown }) => {
    const { resolve, reject } = waiting.shift()!;
    if ('error' in answer) reject(answer.error);
    else resolve(answer.value);
  });
  worker.on('error', fail);
  worker.on('exit', () => fail(new Error('a thread that reads tapes stopped early')));

  function ask<T>(task: ToThread, transfer: ArrayBuffer[]): Promise<T> {
    if (failure !== null) return Promise.reject(failure);
    const answer = new Promise<T>((resolve, reject) => waiting.push({ resolve, reject }));
    worker.postMessage(task, transfer);
    return answer;
  }

  return {
    begin: (stage) => worker.postMessage(stage),
    async read(bytes) {
      const known = free.pop();
      const fits = known !== undefined && known.text.byteLength >= bytes.length;
      const size = Math.max(leastMemory / 4, bytes.length);
      const { text, records } = fits ? known : { text: new ArrayBuffer(size), records: recordsFor(size) };
      new Uint8Array(text).set(bytes);
      const answer = await ask<{ piece: RecordPiece; text: ArrayBuffer; records: ArrayBuffer }>(
        { kind: 'piece', text, length: bytes.length, records },
        [text, records],
      );
      const release = () => void free.push({ text: answer.text, records: answer.records });
      return { piece: answer.piece, records: new Uint32Array(answer.records), release };
    },
    make: (work) => ask({ kind: 'session', work }, []),
    async close() {
      await worker.terminate();
    },
  };
}
