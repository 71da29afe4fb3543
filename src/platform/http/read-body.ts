import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { yieldForBytes } from '../runtime/event-loop.ts';
import {
  bodyTooLarge,
  bodyTooSlow,
  type Failure,
  invalidParameter,
  overloaded,
  rateLimited,
  unsupportedCharset,
  unsupportedEncoding,
  unsupportedMediaType,
} from '../wire/failure.ts';
import {
  type BodyProblem,
  declaredLength,
  mediaTypeOf,
  releaseBytes,
  requestBody,
  UnreadBody,
} from './request-body.ts';

/** The 413 of a body with more than this many bytes. */
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

/** True if a Content-Type declares UTF-8, or no character set at all. */
function declaresUtf8(contentType = ''): boolean {
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(contentType)?.[1];
  return charset === undefined || /^(utf-?8|us-ascii)$/i.test(charset);
}

/** Rules of an endpoint for bodies. */
export interface BodyRules {
  maxBytes: number;
  /** Media types in lower case; the error names the first. */
  mediaTypes: readonly string[];
  /** Caller that the bytes are counted for, in the limit of bodies in progress. */
  caller?: string;
}

/**
 * The bytes of a request's body. Throws 413 as soon as they are more than `maxBytes`, 415 for another media type, for a
 * compressed body and for another character set than UTF-8, 408 when it arrives too slowly, 400 when the client
 * disconnects, and 429 or 503 when `caller` or the process has too many in progress. An empty body may have any type. A
 * large body is processed when it is scheduled.
 */
export async function bodyBytes(
  request: IncomingMessage,
  { maxBytes, mediaTypes, caller = '' }: BodyRules,
): Promise<Buffer> {
  const encoding = request.headers['content-encoding']?.trim().toLowerCase();
  if (encoding && encoding !== 'identity') throw unsupportedEncoding();
  if (!declaresUtf8(request.headers['content-type'])) throw unsupportedCharset();
  const requireMediaType = () => {
    if (!mediaTypes.includes(mediaTypeOf(request))) throw unsupportedMediaType(mediaTypes.join(' or '));
  };
  // An unusable body is not read; a body that is too large is 413 in any case.
  const length = declaredLength(request) ?? 0;
  if (length > 0 && length <= maxBytes) requireMediaType();
  try {
    const bytes = await requestBody(request, maxBytes, caller);
    if (bytes.length > 0) requireMediaType();
    await yieldForBytes(bytes.length);
    return bytes;
  } catch (error) {
    throw error instanceof UnreadBody ? failureOf(error.problem, maxBytes) : error;
  }
}

/** The UTF-8 text of a body, without a byte order mark. Throws 400 for anything else. */
export function utf8Text(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw invalidParameter('body', 'expected UTF-8 text');
  const text = bytes.toString();
  releaseBytes(bytes);
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}
