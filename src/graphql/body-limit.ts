import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { Failure } from '../domain/failure.ts';
import { bodyBytes, bodyOver, saysLarger } from '../domain/request-body.ts';
import { documentLimits } from './limits.ts';

type Handler = (request: IncomingMessage & { body?: unknown }, response: ServerResponse, next: () => void) => void;

function refuse(response: ServerResponse, failure: Failure): void {
  response.statusCode = failure.status;
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Cache-Control', 'no-store');
  response.end(JSON.stringify({ errors: [{ message: failure.message, extensions: { code: failure.code } }] }));
}

/**
 * Keeps bodies over `documentLimits.bytes` from the door, which has no bound of its own. A body that tells its length cannot be
 * longer; one that comes in chunks is gathered first.
 */
export const bodyLimit: Handler = (request, response, next) => {
  const max = documentLimits.bytes;
  if (saysLarger(request, max)) return refuse(response, bodyOver(max));
  if (request.headers['transfer-encoding'] === undefined) return next();
  bodyBytes(request, max).then(
    (bytes) => {
      if (bytes.length > 0) request.body = Readable.from([bytes]);
      next();
    },
    (error: unknown) => refuse(response, error as Failure),
  );
};
