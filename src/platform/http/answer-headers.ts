import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { guardHeaders } from './cache-headers.ts';

/** A request's id: the one it was sent with if well-formed, else a new one; in every answer as `x-request-id`. */
function requestId(request: IncomingMessage): string {
  const sent = request.headers['x-request-id'];
  return typeof sent === 'string' && /^[\w.:-]{1,128}$/.test(sent) ? sent : randomUUID();
}

/** Security headers of every answer: no sniffing, no subresources, no framing. Pages set their own policy. */
const answerHeaders = new Map([
  ['X-Content-Type-Options', 'nosniff'],
  ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
  ['X-Frame-Options', 'DENY'],
  ['Referrer-Policy', 'same-origin'],
]);

/** Gives every request its id and every answer the common headers. */
export function identify(request: Request, response: Response, next: NextFunction): void {
  guardHeaders(response);
  request.id = requestId(request);
  response.setHeader('x-request-id', request.id);
  response.setHeaders(answerHeaders);
  next();
}
