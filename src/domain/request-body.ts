import type { IncomingMessage } from 'node:http';
import { type BodyProblem, requestBody, UnreadBody } from '../runtime/http/request-body.ts';
import {
  bodyTooLarge,
  bodyTooSlow,
  type Failure,
  invalidParameter,
  overloaded,
  rateLimited,
  unsupportedCharset,
  unsupportedEncoding,
} from './failure.ts';

/** 413 in words: so many bytes at most. */
export function bodyOver(maxBytes: number): Failure {
  return bodyTooLarge(maxBytes >= 1 << 20 ? `${maxBytes / (1 << 20)} MiB` : `${maxBytes / 1024} KiB`);
}

/** The error sent for a body that was not read to its end. */
function failureOf(problem: BodyProblem, maxBytes: number): Failure {
  switch (problem) {
    case 'too-large':
      return bodyOver(maxBytes);
    case 'too-slow':
      return bodyTooSlow();
    case 'cut-off':
      return invalidParameter('body', 'ended before it was complete');
    case 'caller-holds-too-many':
      return rateLimited('Too many request bodies at a time from this client.', 1);
    case 'too-many':
      return overloaded('The server is receiving too many request bodies.', 1);
  }
}

/** Whether a Content-Type declares UTF-8, or no character set at all. */
function isUtf8(contentType = ''): boolean {
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(contentType)?.[1];
  return charset === undefined || /^(utf-?8|us-ascii)$/i.test(charset);
}

/**
 * The bytes of a request's body. Throws 413 as soon as they are more than `maxBytes`, 415 for a compressed one and for
 * another character set than UTF-8, 408 when they come too slowly, 400 when the client goes away in the middle, and 429
 * or 503 when `caller` or the process has too many in progress.
 */
export async function bodyBytes(request: IncomingMessage, maxBytes: number, caller = ''): Promise<Buffer> {
  const encoding = request.headers['content-encoding']?.trim().toLowerCase();
  if (encoding && encoding !== 'identity') throw unsupportedEncoding();
  if (!isUtf8(request.headers['content-type'])) throw unsupportedCharset();
  try {
    return await requestBody(request, maxBytes, caller);
  } catch (error) {
    throw error instanceof UnreadBody ? failureOf(error.problem, maxBytes) : error;
  }
}
