import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';
import { forbidCaching } from '../../platform/http/cache-headers.ts';
import { type Encoding, encode, encodingFor } from '../../platform/http/compression.ts';
import { yieldToEventLoop } from '../../platform/runtime/event-loop.ts';
import type { Failure } from '../../platform/wire/failure.ts';
import { bytesPerYield } from '../../platform/wire/json-chunks.ts';
import { errorEnvelope } from '../contract/envelope.ts';

/** A body ready to be sent. */
export interface Body {
  bytes: Buffer;
  contentType: string;
  /** Strong ETag of body and window; null if the answer must not be cached. */
  etag: string | null;
  /** True if the body is compressed in itself. */
  isPacked?: boolean;
  /** Returns a compressed form that is kept; absent: the body is compressed for each answer. */
  encoded?: (encoding: Encoding) => Promise<Buffer>;
}

/** The strong ETag of a body at its address. */
export async function strongTag(address: string, bytes: Buffer): Promise<string> {
  const hash = createHash('sha256').update(address).update('\n');
  for (let start = 0; start < bytes.length; start += bytesPerYield) {
    if (start > 0) await yieldToEventLoop();
    hash.update(bytes.subarray(start, start + bytesPerYield));
  }
  return hash.digest('base64url').slice(0, 27);
}

/** The encoding that the client accepts, if the body is worth it. */
const encodingOf = (request: Request, { bytes, isPacked }: Body): Encoding | null =>
  isPacked ? null : encodingFor(bytes.length, (known) => request.acceptsEncodings([...known]));

/** True if an If-None-Match header names the tag (weak comparison, RFC 9110 13.1.2). */
export function matchesTag(header: string | undefined, tag: string): boolean {
  if (!header) return false;
  return header
    .split(',')
    .some((candidate) => candidate.trim() === '*' || candidate.trim().replace(/^W\//, '') === tag);
}

/** Sends a success body, compressed as the client accepts; 304 if the client has this variant. */
export async function sendBody(request: Request, response: Response, body: Body): Promise<void> {
  const { encoded = (encoding) => encode(body.bytes, encoding) } = body;
  const encoding = encodingOf(request, body);
  response.vary('Accept-Encoding');
  if (body.etag !== null) {
    // Each variant has its own ETag.
    const tag = `"${body.etag}${encoding === null ? '' : `-${encoding}`}"`;
    response.setHeader('ETag', tag);
    if (matchesTag(request.headers['if-none-match'], tag)) {
      response.status(304).end();
      return;
    }
  }
  const bytes = encoding === null ? body.bytes : await encoded(encoding);
  if (encoding !== null) response.setHeader('Content-Encoding', encoding);
  response.setHeader('Content-Type', body.contentType);
  response.setHeader('Content-Length', bytes.length);
  // `send` would compute another ETag; all headers are set already.
  response.end(request.method === 'HEAD' ? undefined : bytes);
}

/** Sends a failure as the contract's error envelope, with its headers. */
export function sendFailure(response: Response, failure: Failure): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.setHeaders(new Map(Object.entries(failure.headers)));
  forbidCaching(response);
  response.status(failure.status).json(errorEnvelope(failure));
}
