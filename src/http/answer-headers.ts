import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { guardHeaders } from './cache-headers.ts';

/** A request's id: the one it brought when well-formed, else a new one; on every answer as `x-request-id`. */
function requestId(request: IncomingMessage): string {
  const sent = request.headers['x-request-id'];
  return typeof sent === 'string' && /^[\w.:-]{1,128}$/.test(sent) ? sent : randomUUID();
}

/**
 * Headers of every answer: it is what its type says, loads nothing and stands in no frame. A page says itself what it
 * loads.
 */
const answerHeaders = new Map([
  ['X-Content-Type-Options', 'nosniff'],
  ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
  ['X-Frame-Options', 'DENY'],
  ['Referrer-Policy', 'same-origin'],
]);

/** Gives every request its id and every answer the headers all have. */
export function identify(request: Request, response: Response, next: NextFunction): void {
  guardHeaders(response);
  request.id = requestId(request);
  response.setHeader('x-request-id', request.id);
  response.setHeaders(answerHeaders);
  next();
}
