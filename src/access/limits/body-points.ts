import type { JsonSize } from '../../wire/json-size.ts';

/** Points that cost as much as one request. */
export const pointsPerRequest = 10;

/** Points of a byte of a body, and of a value in it: `npm run bench -- bodies` measures them. */
const [byte, value] = [0.00006, 0.006];

/** Bytes that every request may send for nothing: a document and its variables are usually smaller. */
const freeBytes = 4096;
const freeValues = 100;

/** Points of reading a JSON body of this size. */
export function bodyPoints({ bytes, values }: JsonSize): number {
  return Math.max(0, bytes - freeBytes) * byte + Math.max(0, values - freeValues) * value;
}

/** Whole requests that reading a message costs that is otherwise free, such as a ping: usually none. */
export function messageRequests(size: JsonSize): number {
  return Math.ceil(bodyPoints(size) / pointsPerRequest);
}

/** Whole requests that reading a body costs beside its request, where there are no points. */
export function bodyRequests(size: JsonSize): number {
  return Math.round(bodyPoints(size) / pointsPerRequest);
}
