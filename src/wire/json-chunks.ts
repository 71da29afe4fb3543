import { randomUUID } from 'node:crypto';

/** A part of a long JSON text. */
export type JsonPart = string | Buffer;

/** Characters after which text becomes bytes: strings put together piece by piece take ten times the memory. */
const partChars = 16 * 1024;

const comma = ','.charCodeAt(0);

/** Stands for written JSON while `JSON.stringify` runs. Nobody knows it, so no text of an answer holds it. */
const mark = randomUUID();
let met: WrittenJson[] = [];

/** JSON that has been written; in a tree of values it stands for the value that it is. */
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

/** `JSON.stringify(value)`, with the parts that are already written inserted at their positions. */
export function stringified(value: unknown): JsonPart[] {
  met = [];
  const text = JSON.stringify(value);
  if (met.length === 0) return [text];
  const written = met;
  return text.split(`"${mark}"`).flatMap((between, i) => (i === 0 ? [between] : [...written[i - 1]!.parts, between]));
}

/** Writes JSON, turning what is long into bytes as it comes. */
export class JsonWriter {
  readonly #wrote: (characters: number) => void;
  readonly #parts: JsonPart[] = [];
  #text = '';

  /** @param wrote Called with the number of characters written here; what was written elsewhere was counted there. */
  constructor(wrote: (characters: number) => void) {
    this.#wrote = wrote;
  }

  text(text: string): void {
    this.#wrote(text.length);
    this.#add(text);
  }

  value(value: unknown): void {
    if (value instanceof WrittenJson) this.#written(value.parts);
    else this.text(JSON.stringify(value));
  }

  /** Items of a list: `[` or, where others have been written, `,` before them, and nothing behind. */
  items(items: readonly unknown[], isFirst: boolean): void {
    const text = JSON.stringify(items);
    this.#wrote(text.length);
    if (text.length < partChars) {
      this.#add((isFirst ? '[' : ',') + text.slice(1, -1));
      return;
    }
    this.#flush();
    const bytes = Buffer.from(text);
    if (!isFirst) bytes[0] = comma;
    this.#parts.push(bytes.subarray(0, -1));
  }

  #add(text: string): void {
    this.#text += text;
    if (this.#text.length >= partChars) this.#flush();
  }

  #written(parts: readonly JsonPart[]): void {
    for (const part of parts) {
      if (typeof part === 'string') this.#add(part);
      else {
        this.#flush();
        this.#parts.push(part);
      }
    }
  }

  #flush(): void {
    if (this.#text === '') return;
    this.#parts.push(this.#text.length < partChars ? this.#text : Buffer.from(this.#text));
    this.#text = '';
  }

  /** The written JSON; nothing may be written afterwards. */
  done(): WrittenJson {
    this.#flush();
    return new WrittenJson(this.#parts);
  }
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
