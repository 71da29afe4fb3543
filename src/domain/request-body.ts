import type { IncomingMessage } from 'node:http';
import { bodyTooLarge, type Failure, invalidParameter } from './failure.ts';

/** 413 in words: so many bytes at most. */
export function bodyOver(maxBytes: number): Failure {
  return bodyTooLarge(maxBytes >= 1 << 20 ? `${maxBytes / (1 << 20)} MiB` : `${maxBytes / 1024} KiB`);
}

/** Whether a request says of itself that its body is larger than `maxBytes`. */
export function saysLarger(request: IncomingMessage, maxBytes: number): boolean {
  return Number(request.headers['content-length'] ?? 0) > maxBytes;
}

/** The bytes of a request's body; 413 as soon as they are more than `maxBytes`, 400 when the client goes away in the middle. */
export async function bodyBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  if (saysLarger(request, maxBytes)) throw bodyOver(maxBytes);
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    // Leaving the loop must not destroy the request: its connection has yet to carry the answer.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > maxBytes) break;
      chunks.push(chunk);
    }
  } catch {
    throw invalidParameter('body', 'ended before it was complete');
  }
  if (length > maxBytes) {
    request.resume();
    throw bodyOver(maxBytes);
  }
  return Buffer.concat(chunks);
}
