import type { IncomingMessage } from 'node:http';
import { bodyPoints } from '../../access/limits/body-points.ts';
import type { JsonSize } from '../../runtime/json-size.ts';

const pointsOf = new WeakMap<IncomingMessage, number>();

/** Remembers what reading the body of a request took. */
export function setBodySize(request: IncomingMessage, size: JsonSize): void {
  pointsOf.set(request, bodyPoints(size));
}

/** Points of reading what an operation came with. */
export function sentPoints({ req, sentPoints }: { req: IncomingMessage; sentPoints?: number }): number {
  return sentPoints ?? pointsOf.get(req) ?? 0;
}
