import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';

/**
 * A vendor file that cannot be read as what it should be; `message` begins with the file's name and is fit to be shown.
 */
export class TapeFileError extends Error {
  override readonly name = 'TapeFileError';

  constructor(file: string, reason: string, options?: ErrorOptions) {
    super(`${basename(file)}: ${reason}`, options);
  }
}

/** One line of a vendor file that was not understood. `line` counts from 1, the header included. */
export interface BadLine {
  file: string;
  line: number;
  reason: string;
}

/** Called for every bad line as it is met; may throw to stop reading. */
export type OnBadLine = (bad: BadLine) => void;

/** Called with the number of further bytes of the file, as on disk, that were read. */
export type OnBytes = (count: number) => void;

const chunkBytes = 256 * 1024;

function reasonOf(cause: unknown): string {
  const code = (cause as { code?: string }).code ?? '';
  if (code === 'Z_BUF_ERROR') return 'the gzip data is truncated: the file is incomplete';
  if (code.startsWith('Z_')) return `the gzip data is damaged (${(cause as Error).message})`;
  if (code === 'ENOENT') return 'no such file';
  if (code === 'EISDIR') return 'is a folder';
  return (cause as Error).message;
}

async function* counted(source: AsyncIterable<Buffer>, onBytes: OnBytes): AsyncGenerator<Buffer> {
  for await (const chunk of source) {
    onBytes(chunk.length);
    yield chunk;
  }
}

async function* following(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* rest;
}

/** The bytes of a file, unpacked when it is gzip. Memory does not grow with the file. Throws `TapeFileError`. */
export async function* readBytes(path: string, onBytes: OnBytes = () => {}): AsyncGenerator<Buffer> {
  try {
    const source = counted(createReadStream(path, { highWaterMark: chunkBytes }), onBytes);
    try {
      const first = await source.next();
      if (first.done) return;
      const whole = following(first.value, source);
      // Compressed by what it holds, not by what it is called: vendors and browsers drop or add `.gz`.
      const packed = first.value[0] === 0x1f && first.value[1] === 0x8b;
      // The callback is there so that a failure is thrown to the reader below and nowhere else.
      yield* packed ? pipeline(whole, createGunzip({ chunkSize: chunkBytes }), () => {}) : whole;
    } finally {
      await source.return(undefined);
    }
  } catch (cause) {
    throw cause instanceof TapeFileError ? cause : new TapeFileError(path, reasonOf(cause), { cause });
  }
}
