import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** Encodings of a body, the preferred one first. */
export type Encoding = 'br' | 'gzip';

const known = ['br', 'gzip', 'identity'] as const;

/** Smaller bodies are sent as they are: compressing them costs more than it saves. */
const fromBytes = 1400;

const brotli = promisify(brotliCompress);
const gzipped = promisify(gzip);

/**
 * The encoding for a body of `length` bytes, null for none. `preferred` returns the encoding that the client prefers.
 */
export function encodingFor(
  length: number,
  preferred: (encodings: readonly string[]) => string | false,
): Encoding | null {
  if (length < fromBytes) return null;
  const encoding = preferred(known);
  return encoding === 'br' || encoding === 'gzip' ? encoding : null;
}

/** Compresses a body, off the event loop, at the levels that are cheapest for an answer sent once. */
export function encode(bytes: Uint8Array, encoding: Encoding): Promise<Buffer<ArrayBuffer>> {
  return encoding === 'br'
    ? brotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })
    : gzipped(bytes, { level: 5 });
}
