import { randomUUID } from 'node:crypto';
import { yieldToEventLoop } from '../runtime/event-loop.ts';

/** A part of a long JSON text. */
export type JsonPart = string | Buffer;

/** Placeholder of written JSON while `JSON.stringify` runs. It is random, so no text of an answer contains it. */
const mark = randomUUID();
const quotedMark = `"${mark}"`;
let met: WrittenJson[] = [];

/** Written JSON; in a tree of values it represents its value. */
export class WrittenJson {
  readonly parts: readonly JsonPart[];

  constructor(parts: readonly JsonPart[]) {
    this.parts = parts;
  }

  toJSON(): string {
    met.push(this);
    return mark;
  }
}

/**
 * `JSON.stringify(value)`, with the parts that are already written inserted at their positions. It begins and ends with
 * text.
 * @param wrote Called with the number of characters written here; earlier parts were counted when they were written.
 */
export function stringified(value: unknown, wrote?: (characters: number) => void): JsonPart[] {
  met = [];
  const text = JSON.stringify(value);
  const written = met;
  met = [];
  wrote?.(text.length - written.length * quotedMark.length);
  if (written.length === 0) return [text];
  return text.split(quotedMark).flatMap((between, i) => (i === 0 ? [between] : [...written[i - 1]!.parts, between]));
}

/** Written JSON as buffers, short parts joined. */
export function jsonBuffers({ parts }: Pick<WrittenJson, 'parts'>): Buffer<ArrayBuffer>[] {
  const buffers: Buffer<ArrayBuffer>[] = [];
  let text = '';
  for (const part of parts) {
    if (typeof part === 'string') text += part;
    else {
      if (text !== '') buffers.push(Buffer.from(text));
      text = '';
      buffers.push(part as Buffer<ArrayBuffer>);
    }
  }
  if (text !== '') buffers.push(Buffer.from(text));
  return buffers;
}

/** Number of bytes copied or hashed without a yield: about 2 ms of work. */
export const bytesPerYield = 1024 * 1024;

/** Joins buffers; large ones with yields to the event loop in between. */
export async function joined(parts: readonly Buffer<ArrayBuffer>[]): Promise<Buffer<ArrayBuffer>> {
  if (parts.length === 1) return parts[0]!;
  const all = Buffer.allocUnsafeSlow(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  let copied = 0;
  for (const part of parts) {
    part.copy(all, offset);
    offset += part.length;
    copied += part.length;
    if (copied < bytesPerYield) continue;
    copied = 0;
    await yieldToEventLoop();
  }
  return all;
}

/** `JSON.stringify(value)` as UTF-8, for plain data whose long parts are already written. */
export function jsonBytes(value: unknown): Promise<Buffer<ArrayBuffer>> {
  return joined(jsonBuffers({ parts: stringified(value) }));
}

/** The size of a JSON text, counted without reading its values. */
export interface JsonSize {
  bytes: number;
  /** Number of values: items, fields, lists and objects. */
  values: number;
}

/** Maximum number of values of a JSON text that is sent. */
export const mostJsonValues = 10_000;

/** Limit that a JSON text exceeds. */
export type JsonExcess = 'too-deep' | 'too-many-values';

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/** The end offset of the string that begins at `start`, after its opening quote. */
function textEnd(bytes: Buffer, start: number): number {
  for (let end = bytes.indexOf(quote, start); end !== -1; end = bytes.indexOf(quote, end + 1)) {
    let escapes = 0;
    while (bytes[end - 1 - escapes] === backslash) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return bytes.length;
}

/**
 * Counts the values of a JSON text in one pass over its bytes; stops at the limits. `JSON.parse` takes ten to a
 * hundred times as long for a text of many values or levels, so it is called only for a text within them.
 */
export function jsonSize(bytes: Buffer, mostDeep: number): JsonSize | JsonExcess {
  let [values, depth] = [1, 0];
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte === quote) at = textEnd(bytes, at + 1);
    else if (byte === comma) values += 1;
    else if (byte === openList || byte === openObject) {
      values += 1;
      depth += 1;
      if (depth > mostDeep) return 'too-deep';
    } else if (byte === closeList || byte === closeObject) depth -= 1;
    if (values > mostJsonValues) return 'too-many-values';
  }
  return { bytes: bytes.length, values };
}
