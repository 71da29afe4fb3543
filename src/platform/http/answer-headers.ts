import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { guardHeaders } from './cache-headers.ts';
import { readAtHeader } from './read-instant.ts';

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

/** Headers of answers that pages of other origins may read; those of `meta` come with their prefix. */
const exposedHeaders = [
  'ETag',
  'Retry-After',
  'Deprecation',
  'Sunset',
  'Link',
  'x-request-id',
  readAtHeader,
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'x-ratelimit-consumed',
];

/** Answers preflights. Only pages of `origins` may read answers. */
export function cors(origins: readonly string[], metaHeaderPrefix: string) {
  const allowed = new Set(origins);
  return (request: Request, response: Response, next: NextFunction) => {
    const { origin } = request.headers;
    if (allowed.size > 0) response.vary('Origin');
    if (origin && allowed.has(origin)) {
      response.setHeader('Access-Control-Allow-Origin', origin);
      response.setHeader(
        'Access-Control-Expose-Headers',
        [...exposedHeaders, ...['plane', 'caps', 'extra', 'data'].map((name) => metaHeaderPrefix + name)].join(', '),
      );
      if (request.method === 'OPTIONS' && request.headers['access-control-request-method']) {
        response.setHeader('Access-Control-Allow-Methods', 'GET, HEAD, POST, PUT, PATCH, DELETE');
        response.setHeader(
          'Access-Control-Allow-Headers',
          'Authorization, X-API-Key, Content-Type, Accept, If-None-Match, Last-Event-ID, X-GraphQL-Event-Stream-Token, X-Request-Id, Mcp-Protocol-Version, Mcp-Session-Id',
        );
        response.setHeader('Access-Control-Max-Age', '600');
        response.status(204).end();
        return;
      }
    }
    next();
  };
}
