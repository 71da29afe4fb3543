import type { OutgoingMessage } from 'node:http';
import type { Caller } from './caller.ts';
import type { RateState } from './rate.ts';

/** Tells an API key how it stands in its minute (contract-notes 1), by whichever door it came; site sessions are told nothing. */
export function tellRate(caller: Pick<Caller, 'kind'>, rate: RateState, response: OutgoingMessage): void {
  if (caller.kind !== 'key') return;
  response.setHeader('x-ratelimit-limit', rate.limit);
  response.setHeader('x-ratelimit-remaining', rate.remaining);
  response.setHeader('x-ratelimit-reset', rate.resetSeconds);
}

/** Whether an answer has told its caller's rate already: then the request has been charged. */
export function hasToldRate(response: OutgoingMessage): boolean {
  return response.hasHeader('x-ratelimit-limit');
}
