import type { IncomingMessage } from 'node:http';
import { bodyPoints } from '../../access/limits/body-points.ts';
import { boundedJsonSize } from '../../wire/sent-text.ts';

const pointsOf = new WeakMap<IncomingMessage, number>();

/**
 * Remembers what reading the body of a request takes: its bytes at least. Throws 400 for one that is nested deeper, or
 * has more values, than is read.
 */
export function weighBody(request: IncomingMessage, bytes: Buffer): void {
  pointsOf.set(request, bodyPoints({ bytes: bytes.length, values: 0 }));
  pointsOf.set(request, bodyPoints(boundedJsonSize(bytes, 'body')));
}

/** Points of reading what an operation came with. */
export function sentPoints({ req, sentPoints }: { req: IncomingMessage; sentPoints?: number }): number {
  return sentPoints ?? pointsOf.get(req) ?? 0;
}
