import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Request, Response } from 'express';
import type { Failure } from '../../domain/failure.ts';
import { yieldToEventLoop } from '../../runtime/event-loop.ts';
import { forbidCaching } from '../../runtime/http/cache-headers.ts';
import { bytesPerYield } from '../../runtime/json-bytes.ts';
import { errorEnvelope } from '../contract/envelope.ts';

const compressGzip = promisify(gzip);
const compressBrotli = promisify(brotliCompress);

/** Smaller bodies are sent as they are: compressing them costs more than it saves. */
const compressFromBytes = 1400;

/** A body ready to be sent. */
export interface Body {
  bytes: Buffer;
  contentType: string;
  /** Strong tag of body and window; null if the answer must not be cached. */
  etag: string | null;
}

/** The strong tag of a body under the address that asked for it. */
export async function strongTag(address: string, bytes: Buffer): Promise<string> {
  const hash = createHash('sha256').update(address).update('\n');
  for (let start = 0; start < bytes.length; start += bytesPerYield) {
    if (start > 0) await yieldToEventLoop();
    hash.update(bytes.subarray(start, start + bytesPerYield));
  }
  return hash.digest('base64url').slice(0, 27);
}

async function encoded(request: Request, bytes: Buffer): Promise<{ encoding: string | null; bytes: Buffer }> {
  if (bytes.length < compressFromBytes) return { encoding: null, bytes };
  const encoding = request.acceptsEncodings(['br', 'gzip', 'identity']);
  if (encoding === 'br')
    return { encoding, bytes: await compressBrotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }) };
  if (encoding === 'gzip') return { encoding, bytes: await compressGzip(bytes, { level: 5 }) };
  return { encoding: null, bytes };
}

/** Which encoding a body of this length would be sent in: part of its tag, since each variant carries its own. */
function variant(request: Request, length: number): string {
  if (length < compressFromBytes) return '';
  const encoding = request.acceptsEncodings(['br', 'gzip', 'identity']);
  return encoding === 'br' || encoding === 'gzip' ? `-${encoding}` : '';
}

/** Whether an If-None-Match header names the tag (weak comparison, RFC 9110 13.1.2). */
export function matchesTag(header: string | undefined, tag: string): boolean {
  if (!header) return false;
  return header
    .split(',')
    .some((candidate) => candidate.trim() === '*' || candidate.trim().replace(/^W\//, '') === tag);
}

/** Sends a success body: compressed as the client takes it, 304 when it holds this variant already. */
export async function sendBody(request: Request, response: Response, body: Body): Promise<void> {
  if (body.etag !== null) {
    const tag = `"${body.etag}${variant(request, body.bytes.length)}"`;
    response.setHeader('ETag', tag);
    if (matchesTag(request.headers['if-none-match'], tag)) {
      response.status(304).end();
      return;
    }
  }
  const { encoding, bytes } = await encoded(request, body.bytes);
  if (encoding) response.setHeader('Content-Encoding', encoding);
  response.setHeader('Content-Type', body.contentType);
  response.setHeader('Content-Length', bytes.length);
  // `send` would compute a tag of its own; everything is set already.
  response.end(request.method === 'HEAD' ? undefined : bytes);
}

/** Sends a failure as the contract's error envelope, with the headers it brings. */
export function sendFailure(response: Response, failure: Failure): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  for (const [name, value] of Object.entries(failure.headers)) response.setHeader(name, value);
  forbidCaching(response);
  response.status(failure.status).json(errorEnvelope(failure));
}
