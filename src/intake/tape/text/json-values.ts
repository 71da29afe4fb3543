/** Thrown for text that is not complete JSON; the message is the reason. */
export class JsonTextError extends Error {
  override readonly name = 'JsonTextError';
}

// A page of 50,000 results is 15 MB; parsed, it takes nine times its size.
const maxValueBytes = 64 * 1024 * 1024;

const [quote, backslash, openBrace, closeBrace, openBracket, closeBracket] = [0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d];
// Spaces, and the bytes of a byte order mark.
const skipped = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf]);

/** Finds the ends of objects and arrays in bytes that arrive in pieces. */
class ValueScanner {
  #depth = 0;
  #inString = false;
  #escaped = false;

  /** True inside a value. */
  get isInside(): boolean {
    return this.#depth > 0;
  }

  /** Offset after the value that ends in `bytes`, scanned from `from`; −1 if none ends there. */
  endOf(bytes: Buffer, from: number): number {
    for (let i = from; i < bytes.length; i++) if (this.#endsWith(bytes[i]!)) return i + 1;
    return -1;
  }

  #endsWith(code: number): boolean {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (code === backslash) this.#escaped = true;
      else if (code === quote) this.#inString = false;
      return false;
    }
    if (code === openBrace || code === openBracket) this.#depth++;
    else if (this.#depth === 0) {
      if (!skipped.has(code)) throw new JsonTextError('expected JSON objects, one after another');
    } else if (code === quote) this.#inString = true;
    else if (code === closeBrace || code === closeBracket) return --this.#depth === 0;
    return false;
  }
}

/**
 * The objects and arrays of a text that has them one after another, such as NDJSON or pages joined by `cat`. Memory
 * holds one. Throws `JsonTextError`.
 */
export async function* jsonTexts(source: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const scanner = new ValueScanner();
  let parts: Buffer[] = [];
  let length = 0;
  for await (const bytes of source) {
    let from = 0;
    for (let end = scanner.endOf(bytes, from); end >= 0; end = scanner.endOf(bytes, from)) {
      yield Buffer.concat([...parts, bytes.subarray(from, end)])
        .toString('utf8')
        .replace(/^[\ufeff\s]+/, '');
      [parts, length, from] = [[], 0, end];
    }
    if (!scanner.isInside) continue;
    parts.push(bytes.subarray(from));
    length += bytes.length - from;
    if (length > maxValueBytes) throw new JsonTextError(`a JSON value is over ${maxValueBytes} bytes long`);
  }
  if (scanner.isInside) throw new JsonTextError('the JSON ends in the middle of a value: the file is incomplete');
}

/** Parses JSON with each number as its digits: a double would lose those of nanoseconds. Throws `JsonTextError`. */
export function parseExact(text: string): unknown {
  const exact = (_: string, value: unknown, { source }: { source?: string }) =>
    typeof value === 'number' ? source : value;
  try {
    return JSON.parse(text, exact as (key: string, value: unknown) => unknown);
  } catch (cause) {
    throw new JsonTextError(`not JSON (${(cause as Error).message})`, { cause });
  }
}
