import type { IncomingMessage } from 'node:http';
import { bodyPoints } from '../../access/limits/body-points.ts';
import { boundedJsonSize } from '../../platform/wire/sent-text.ts';

const pointsOf = new WeakMap<IncomingMessage, number>();

/**
 * Remembers the cost of reading a request's body: at least its bytes. Throws 400 for a body that is nested too deep or
 * has too many values.
 */
export function weighBody(request: IncomingMessage, bytes: Buffer): void {
  pointsOf.set(request, bodyPoints({ bytes: bytes.length, values: 0 }));
  pointsOf.set(request, bodyPoints(boundedJsonSize(bytes, 'body')));
}

/** Points of reading the body of an operation. */
export function sentPoints({ req, sentPoints }: { req: IncomingMessage; sentPoints?: number }): number {
  return sentPoints ?? pointsOf.get(req) ?? 0;
}
