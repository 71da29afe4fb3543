const lineFeed = 0x0a;

/** Splits a stream so that every piece ends with a line; a last line without an end is given one. */
export async function* wholeLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let rest: Uint8Array[] = [];
  for await (const piece of source) {
    const end = piece.lastIndexOf(lineFeed) + 1;
    if (end > 0) yield Buffer.concat([...rest, piece.subarray(0, end)]);
    // Copied, because the stream may reuse its buffer.
    if (end > 0) rest = [];
    if (end < piece.length) rest.push(Uint8Array.from(piece.subarray(end)));
  }
  if (rest.length > 0) yield Buffer.concat([...rest, Buffer.from('\n')]);
}

/** The pieces without their first `count` lines. */
export async function* withoutLines(pieces: AsyncIterable<Buffer>, count: number): AsyncGenerator<Buffer> {
  let left = count;
  for await (const piece of pieces) {
    let from = 0;
    while (left > 0 && from < piece.length) {
      from = piece.indexOf(lineFeed, from) + 1;
      left--;
    }
    if (from < piece.length) yield from === 0 ? piece : piece.subarray(from);
  }
}
