import { createZstdDecompress, type ZstdDecompress } from 'node:zlib';

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
export async function* unzstd(source: AsyncIterable<Buffer>, chunkSize: number): AsyncGenerator<Buffer> {
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
