import { randomUUID } from 'node:crypto';

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
