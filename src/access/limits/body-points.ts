import type { JsonSize } from '../../platform/wire/json-chunks.ts';

/** Number of points that cost one request. */
export const pointsPerRequest = 10;

/** Points per byte of a body, and per value in it: `npm run bench -- bodies` measures them. */
const [byte, value] = [0.00006, 0.006];

/** Free bytes of every request: a document and its variables are usually smaller. */
const freeBytes = 4096;
const freeValues = 100;

/** Points of reading a JSON body of this size. */
export function bodyPoints({ bytes, values }: JsonSize): number {
  return Math.max(0, bytes - freeBytes) * byte + Math.max(0, values - freeValues) * value;
}

/** Whole requests that reading an otherwise free message costs, such as a ping: usually none. */
export function messageRequests(size: JsonSize): number {
  return Math.ceil(bodyPoints(size) / pointsPerRequest);
}

/** Whole requests that reading a body costs besides its request, for endpoints without points. */
export function bodyRequests(size: JsonSize): number {
  return Math.round(bodyPoints(size) / pointsPerRequest);
}
