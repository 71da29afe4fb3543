import { Worker } from 'node:worker_threads';

/** Messages to a decoder of Parquet. */
export type ToDecoder = { kind: 'open'; path: string } | { kind: 'next' } | { kind: 'close' };

/** Messages from it. `work`: it is about to read a number of values, and hears nothing meanwhile. */
export type FromDecoder =
  | { kind: 'text'; text: Uint8Array; bytes: number }
  | { kind: 'work'; values: number }
  | { kind: 'end' }
  | { kind: 'failed'; message: string };

// Objects of the decoder. A row group beyond it is refused, without harm to this process.
const mostMemoryMb = 1024;
/** Time for a piece of work, ms; and for each of its values: a hundred times what one takes. */
const [leastMs, msOfValue] = [10_000, 0.01];
/** Time between two looks, ms: they are counted, since this thread may be busy itself. */
const lookMs = 100;

/** A thread that decodes a file at a time. What fails in it, or takes too long, ends the file and not the process. */
class Decoder {
  readonly #worker = new Worker(new URL('./parquet-worker.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: mostMemoryMb },
  });
  #heard: ((message: FromDecoder) => void) | null = null;
  hasFailed = false;

  constructor() {
    this.#worker.on('message', (message: FromDecoder) => this.#heard?.(message));
    const failed = (message: string) => {
      this.hasFailed = true;
      this.#heard?.({ kind: 'failed', message });
    };
    this.#worker.on('error', (error: Error & { code?: string }) =>
      failed(
        error.code === 'ERR_WORKER_OUT_OF_MEMORY'
          ? `unpacking a row group takes more than ${mostMemoryMb} MB of memory: the file is damaged, or write smaller row groups`
          : error.name === 'ParquetError'
            ? error.message
            : 'the Parquet data is damaged',
      ),
    );
    this.#worker.on('exit', () => failed('the thread that reads it ended early'));
  }

  send(message: ToDecoder): void {
    this.#worker.postMessage(message);
  }

  /** Keeps the process alive, or not. */
  hold(isHeld: boolean): void {
    if (isHeld) this.#worker.ref();
    else this.#worker.unref();
  }

  async end(): Promise<void> {
    this.hasFailed = true;
    await this.#worker.terminate();
  }

  /**
   * Sends `next` and resolves with its answer. `look` is called while it waits; what it throws ends the waiting, as
   * does work that takes too long.
   */
  async next(look: () => void): Promise<Exclude<FromDecoder, { kind: 'work' }>> {
    const answer = Promise.withResolvers<Exclude<FromDecoder, { kind: 'work' }>>();
    let looksLeft = leastMs / lookMs;
    this.#heard = (message) => {
      if (message.kind === 'work') looksLeft = (leastMs + message.values * msOfValue) / lookMs;
      else answer.resolve(message);
    };
    const looks = setInterval(() => {
      try {
        look();
        if (looksLeft-- <= 0) throw new Error('decoding it takes too long: the file is damaged');
      } catch (error) {
        answer.reject(error as Error);
      }
    }, lookMs);
    this.send({ kind: 'next' });
    try {
      return await answer.promise;
    } finally {
      clearInterval(looks);
      this.#heard = null;
    }
  }
}

/** A decoder that waits for the next file: to start one takes longer than to read a small file. */
let idle: Decoder | null = null;

/**
 * The rows of a Parquet file as CSV, as `parquetCsv`, decoded in a thread of its own: bounded in time and memory, and
 * ended if `onBytes` throws, which is called every 100 ms.
 */
export async function* parquetTexts(path: string, onBytes: (count: number) => void): AsyncGenerator<Buffer> {
  const decoder = idle?.hasFailed === false ? idle : new Decoder();
  idle = null;
  let isAnswering = false;
  decoder.hold(true);
  try {
    decoder.send({ kind: 'open', path });
    for (;;) {
      isAnswering = true;
      const answer = await decoder.next(() => onBytes(0));
      isAnswering = false;
      if (answer.kind === 'end') return;
      if (answer.kind === 'failed') throw new Error(answer.message);
      onBytes(answer.bytes);
      yield Buffer.from(answer.text.buffer, answer.text.byteOffset, answer.text.byteLength);
    }
  } finally {
    if (isAnswering) await decoder.end();
    else decoder.send({ kind: 'close' });
    decoder.hold(false);
    if (idle === null) idle = decoder;
    else await decoder.end();
  }
}
