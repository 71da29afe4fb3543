import type { IncomingMessage } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { detailsOf, type RequestDetails } from './request-details.ts';

/** A request that has been answered, or whose client left before. */
export interface Ended {
  details: RequestDetails;
  /** One of HTTP's, or `other`. */
  method: string;
  /** The route's path as the tables have it, such as `/v2/gex/:symbol`; `other` for a path that is nowhere. */
  route: string;
  status: number;
  /** The client left before it had the answer. */
  aborted: boolean;
  /** From the request's headers to the end of the answer, ms. */
  tookMs: number;
  /** Sent, headers included. */
  bytes: number;
  /** The answer is a stream of events, or a WebSocket, which lasts as long as its client likes. */
  stream: boolean;
}

/** Called for every request as it comes; what it returns is called with the result of the request. */
export type RequestObserver = (request: IncomingMessage) => (ended: Ended) => void;

const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The pattern by which Express matched the route. The number of patterns is fixed by the code, not by the requests. */
function routeOf({ route }: Request): string {
  const path: unknown = route?.path;
  return typeof path === 'string' ? path : 'other';
}

/** Tells `observers` of every request. To be used before everything else. */
export function observeRequests(observers: readonly RequestObserver[]) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const startedMs = performance.now();
    const { socket } = request;
    const sentBefore = socket.bytesWritten;
    const ends = observers.map((observer) => observer(request));
    response.once('close', () => {
      const ended: Ended = {
        details: detailsOf(request),
        method: methods.has(request.method) ? request.method : 'other',
        route: routeOf(request),
        status: response.statusCode,
        // A WebSocket is not the response's to finish.
        aborted: !response.writableFinished && response.statusCode !== 101,
        tookMs: performance.now() - startedMs,
        bytes: socket.bytesWritten - sentBefore,
        stream:
          response.statusCode === 101 || String(response.getHeader('content-type')).startsWith('text/event-stream'),
      };
      for (const end of ends) end(ended);
    });
    next();
  };
}
