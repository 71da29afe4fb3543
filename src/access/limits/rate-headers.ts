import type { OutgoingMessage } from 'node:http';
import type { RateState } from './rate.ts';

/**
 * Writes the state of the caller's minute (contract-notes 1 and 7), at every endpoint and for keys and sessions alike.
 */
export function writeRateHeaders(rate: RateState, response: OutgoingMessage): void {
  response.setHeader('x-ratelimit-limit', rate.limit);
  response.setHeader('x-ratelimit-remaining', rate.remaining);
  response.setHeader('x-ratelimit-reset', rate.resetSeconds);
}

/** True if an answer already has rate headers: the request has been charged. */
export function hasRateHeaders(response: OutgoingMessage): boolean {
  return response.hasHeader('x-ratelimit-limit');
}
