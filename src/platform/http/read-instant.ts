import type { ServerResponse } from 'node:http';
import { currentRequest } from '../runtime/request-scope.ts';

/** Header with the read instant of an answer of market data, epoch ms. */
export const readAtHeader = 'x-read-at';

/**
 * The read instant of the request at hand, epoch ms: when it arrived. Sends it as a header, too, unless the headers are
 * sent.
 */
export function tellReadInstant(response: ServerResponse): number {
  const { arrivedAtMs } = currentRequest()!;
  if (!response.headersSent) response.setHeader(readAtHeader, arrivedAtMs);
  return arrivedAtMs;
}
