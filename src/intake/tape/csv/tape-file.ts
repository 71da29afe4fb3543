import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { pipeline } from 'node:stream';
import { createGunzip, createZstdDecompress, type ZstdDecompress } from 'node:zlib';
import { asRows } from './translate.ts';

/** Thrown for a vendor file that cannot be read; `message` begins with the file's name and is safe to show. */
export class TapeFileError extends Error {
  override readonly name = 'TapeFileError';
  readonly file: string;

  constructor(file: string, reason: string, options?: ErrorOptions) {
    super(`${basename(file)}: ${reason}`, options);
    this.file = file;
  }
}

/** An invalid line of a vendor file. `line` counts from 1, including the header. */
export interface BadLine {
  file: string;
  line: number;
  reason: string;
}

/** Called for every bad line; may throw to stop reading. */
export type OnBadLine = (bad: BadLine) => void;

/** Called with the number of further bytes read from the file on disk, and with their unpacked text. */
export type OnBytes = (count: number, text?: Buffer) => void;

const chunkBytes = 256 * 1024;

/** Compression of a file, by its first bytes: vendors and browsers remove or add `.gz`. */
type Packing = 'gzip' | 'zstd' | 'parquet' | 'none';

function packingOf(first: Buffer): Packing {
  if (first[0] === 0x1f && first[1] === 0x8b) return 'gzip';
  if (first.toString('latin1', 0, 4) === 'PAR1') return 'parquet';
  const number = first.length < 4 ? 0 : first.readUInt32LE(0);
  // A frame, or a skippable one, which parallel compressors write first.
  if (number === 0xfd2fb528 || (number & 0xfffffff0) >>> 0 === 0x184d2a50) return 'zstd';
  return 'none';
}

/** The reason for which a file cannot be read, for people. */
export function reasonOf(cause: unknown, packing: Packing = 'none'): string {
  const code = (cause as { code?: string }).code ?? '';
  if (code === 'Z_BUF_ERROR') return `the ${packing} data is truncated: the file is incomplete`;
  if (/^Z(STD)?_/.test(code)) return `the ${packing} data is damaged (${(cause as Error).message})`;
  if (code === 'ENOENT') return 'no such file';
  if (code === 'EISDIR') return 'is a folder';
  if (code === 'EACCES') return 'permission denied';
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

async function* parquetTexts(path: string, onBytes: OnBytes): AsyncGenerator<Buffer> {
  const thread = await import('../parquet/parquet-thread.ts');
  yield* thread.parquetTexts(path, onBytes);
}

async function* unpacked(source: AsyncIterable<Buffer>, packing: Packing): AsyncGenerator<Buffer> {
  if (packing === 'zstd') yield* unzstd(source, chunkBytes);
  // The callback makes a failure reach only the reader below.
  else if (packing === 'gzip') yield* pipeline(source, createGunzip({ chunkSize: chunkBytes }), () => {});
  else yield* source;
}

/**
 * The text of a file: unpacked if it is gzip or Zstandard, as CSV if it is Parquet. Memory does not grow with the file.
 * Throws `TapeFileError`.
 */
export async function* readBytes(path: string, onBytes: OnBytes = () => {}): AsyncGenerator<Buffer> {
  let packing: Packing = 'none';
  try {
    const source = createReadStream(path, { highWaterMark: chunkBytes })[Symbol.asyncIterator]();
    try {
      const first = await source.next();
      if (first.done) return;
      packing = packingOf(first.value);
      const packed = () => counted(following(first.value, source), onBytes);
      const texts = packing === 'parquet' ? parquetTexts(path, onBytes) : unpacked(packed(), packing);
      for await (const text of asRows(texts, basename(path))) {
        onBytes(0, text);
        yield text;
      }
    } finally {
      await source.return?.();
    }
  } catch (cause) {
    throw cause instanceof TapeFileError ? cause : new TapeFileError(path, reasonOf(cause, packing), { cause });
  }
}

/** Decodes one piece: yields its output, then the number of input bytes consumed. */
async function* decoded(decoder: ZstdDecompress, piece: Buffer | null): AsyncGenerator<Buffer, number> {
  const before = decoder.bytesWritten;
  let failure: Error | null = null;
  let isOver = false;
  let wake = () => {};
  const over = () => {
    isOver = true;
    wake();
  };
  const failed = (error: Error) => {
    failure = error;
    over();
  };
  const readable = () => wake();
  decoder.on('readable', readable).once('end', over).once('error', failed);
  // A decoder that reaches the end of a frame within the piece ends without calling back.
  if (piece) decoder.write(piece, () => over());
  else decoder.end();
  try {
    for (;;) {
      for (let out = decoder.read(); out !== null; out = decoder.read()) yield out as Buffer;
      if (failure) throw failure;
      if (isOver && decoder.readableLength === 0) return decoder.bytesWritten - before;
      const woken = Promise.withResolvers<void>();
      wake = woken.resolve;
      if (!isOver && decoder.readableLength === 0) await woken.promise;
    }
  } finally {
    decoder.off('readable', readable).off('end', over).off('error', failed);
  }
}

/**
 * The content of Zstandard data: of all its frames, skippable ones omitted. Node's own stream ends with the first frame
 * and silently ignores further ones, which parallel compressors and `cat` write. Memory is bounded by the window, at
 * most 128 MB. Throws the errors of `node:zlib`; `Z_BUF_ERROR` if the last frame is truncated.
 */
async function* unzstd(source: AsyncIterable<Buffer>, chunkSize: number): AsyncGenerator<Buffer> {
  let decoder: ZstdDecompress | null = null;
  try {
    for await (const piece of source) {
      for (let rest = piece; rest.length > 0; ) {
        decoder ??= createZstdDecompress({ chunkSize });
        const taken: number = yield* decoded(decoder, rest);
        rest = rest.subarray(taken);
        if (rest.length === 0) break;
        decoder.destroy();
        decoder = null;
      }
    }
    if (decoder) yield* decoded(decoder, null);
  } finally {
    decoder?.destroy();
  }
}
