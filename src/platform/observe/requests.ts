import type { IncomingMessage } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import type { Tier } from '../config/tiers.ts';

/** A request that was answered, or whose client disconnected before. */
export interface Ended {
  details: RequestDetails;
  /** An HTTP method, or `other`. */
  method: string;
  /** The route's path in the tables, such as `/v2/gex/:symbol`; `other` for an unknown path. */
  route: string;
  status: number;
  /** True if the client disconnected before it had the answer. */
  aborted: boolean;
  /** Time from the request's headers to the end of the answer, ms. */
  tookMs: number;
  /** Bytes sent, headers included. */
  bytes: number;
  /** True if the answer is an event stream or a WebSocket, which lasts as long as its client wants. */
  stream: boolean;
}

/** Called for every request on arrival. The returned function is called with the request's result. */
export type RequestObserver = (request: IncomingMessage) => (ended: Ended) => void;

const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The pattern by which Express matched the route. The number of patterns is fixed by the code, not by the requests. */
function routeOf({ route }: Request): string {
  const path: unknown = route?.path;
  return typeof path === 'string' ? path : 'other';
}

/** Reports every request to `observers`. Use it before all other handlers. */
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
        // The response of a WebSocket never finishes.
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

declare module 'node:http' {
  interface IncomingMessage {
    /** The request id, known to the client and written to the log. */
    id?: string;
  }
}

/** Details of a request, collected while it is answered, for the log, metrics and traces. They contain no secret. */
interface RequestDetails {
  /** The account; absent until the credential is validated. */
  accountId?: string;
  /** Id of the API key, not the key; null for a site session. */
  keyId?: string | null;
  tier?: Tier;
  /** Requests charged against the caller's rate. */
  cost?: number;
  /** The error code of the contract; for a GraphQL answer, that of the first error. */
  code?: string;
  /** For a GraphQL request: the kind of operation, and the scope groups of its fields. */
  operation?: string;
  /** The name of the operation, as the client sent it. */
  operationName?: string;
  groups?: readonly string[];
  /** The id of its trace, if traces are on. */
  traceId?: string;
}

const details = new WeakMap<IncomingMessage, RequestDetails>();

/** The details collected so far. */
function detailsOf(request: IncomingMessage): RequestDetails {
  return details.get(request) ?? {};
}

/** Adds details of a request. */
export function note(request: IncomingMessage, found: RequestDetails): void {
  const known = details.get(request);
  if (known) Object.assign(known, found);
  else details.set(request, { ...found });
}
