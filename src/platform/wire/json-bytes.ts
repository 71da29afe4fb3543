import { yieldToEventLoop } from '../runtime/event-loop.ts';
import { jsonBuffers, stringified } from './json-chunks.ts';

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
