import type { OutgoingMessage } from 'node:http';
import type { RateState } from './rate.ts';

/** Requests that an answer has taken from the caller's minute so far. */
const consumedHeader = 'x-ratelimit-consumed';

/**
 * Writes the state of the caller's minute (contract-notes 1 and 7), at every endpoint and for keys and sessions alike,
 * and adds the requests `taken` to those that the answer has taken before.
 */
export function writeRateHeaders(rate: RateState, response: OutgoingMessage, taken: number): void {
  response.setHeader('x-ratelimit-limit', rate.limit);
  response.setHeader('x-ratelimit-remaining', rate.remaining);
  response.setHeader('x-ratelimit-reset', rate.resetSeconds);
  response.setHeader(consumedHeader, Number(response.getHeader(consumedHeader) ?? 0) + taken);
}

/** True if an answer already has rate headers: the request has been charged. */
export function hasRateHeaders(response: OutgoingMessage): boolean {
  return response.hasHeader('x-ratelimit-limit');
}
