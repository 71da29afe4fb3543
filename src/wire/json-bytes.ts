import { yieldToEventLoop } from '../runtime/event-loop.ts';
import { type JsonPart, jsonBuffers, stringified, WrittenJson } from './json-chunks.ts';

/** Values that are written in one iteration of the event loop: about half a millisecond of work. */
const valuesPerYield = 5000;

/** Values that are too many to be cached as text. */
export const heavyValues = 20_000;

/** Lists up to this length are judged item by item, longer ones by this many of their items, evenly spaced. */
const itemsJudged = 32;
const itemsSampled = 16;

function listWeight(list: readonly unknown[]): number {
  if (list.length <= itemsJudged) return list.reduce((sum: number, item) => sum + weight(item), 1);
  let heaviest = 0;
  for (let i = 0; i < itemsSampled; i++)
    heaviest = Math.max(heaviest, weight(list[Math.floor((i * list.length) / itemsSampled)]));
  return list.length * heaviest;
}

/** About how many values `JSON.stringify` would write. */
function weight(value: unknown): number {
  if (value === null || typeof value !== 'object') return 1;
  if (Array.isArray(value)) return listWeight(value);
  if ('toJSON' in value) return 1;
  let sum = 1;
  for (const key in value) sum += weight((value as Record<string, unknown>)[key]);
  return sum;
}

/** The parts that together are `JSON.stringify(value)`, each of a bounded number of values. */
function* pieces(value: unknown): Generator<JsonPart> {
  if (weight(value) <= valuesPerYield) yield* stringified(value);
  else if (Array.isArray(value)) yield* listPieces(value);
  else yield* objectPieces(value as Record<string, unknown>);
}

/** The parts of a list, which begin and end as text. */
const withoutBrackets = (parts: readonly JsonPart[]): JsonPart[] =>
  parts.map((part, i) => {
    const text = i === 0 ? (part as string).slice(1) : part;
    return i === parts.length - 1 ? (text as string).slice(0, -1) : text;
  });

function* listPieces(list: readonly unknown[]): Generator<JsonPart> {
  const each = weight(list) / list.length;
  const size = Math.max(1, Math.floor(valuesPerYield / each));
  for (let start = 0; start < list.length; start += size) {
    const before = start === 0 ? '[' : ',';
    yield before;
    if (size > 1) yield* withoutBrackets(stringified(list.slice(start, start + size)));
    else yield* pieces(list[start] ?? null);
  }
  yield ']';
}

function* objectPieces(value: Record<string, unknown>): Generator<JsonPart> {
  let before = '{';
  for (const key of Object.keys(value)) {
    if (value[key] === undefined) continue;
    yield `${before}${JSON.stringify(key)}:`;
    yield* pieces(value[key]);
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}

/** Bytes that are copied or hashed without a yield: about 2 ms of work. */
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

/** True if `value` is so large that it is written as it is sent, and not cached. */
export function isHeavy(value: unknown): boolean {
  return weight(value) > heavyValues;
}

/**
 * `JSON.stringify(value)` as UTF-8, for plain data in which some may be written already. What is small is written at
 * once; of what is large, no more than about half a millisecond in one iteration of the event loop.
 */
export async function jsonBytes(value: unknown): Promise<Buffer<ArrayBuffer>> {
  return joined(jsonBuffers(await writtenJson(value)));
}

/** The same as parts that follow each other, in which what was written already stands as it is. */
export async function writtenJson(value: unknown): Promise<WrittenJson> {
  return new WrittenJson(weight(value) > valuesPerYield ? await jsonParts(value) : stringified(value));
}

/** The same as buffers that follow each other. */
export async function jsonParts(value: unknown): Promise<Buffer<ArrayBuffer>[]> {
  const parts: Buffer<ArrayBuffer>[] = [];
  let text = '';
  for (const piece of pieces(value)) {
    if (typeof piece !== 'string') {
      parts.push(Buffer.from(text), piece as Buffer<ArrayBuffer>);
      text = '';
      continue;
    }
    text += piece;
    // Keys and brackets come as pieces of their own and wait for the values that follow.
    if (text.length < 64) continue;
    parts.push(Buffer.from(text));
    text = '';
    await yieldToEventLoop();
  }
  parts.push(Buffer.from(text));
  return parts;
}
