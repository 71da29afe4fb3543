import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { Admission } from '../access/admission.ts';
import { type Failure, failureWithin, internal, notAuthenticated } from '../domain/failure.ts';
import { bodyBytes } from '../domain/request-body.ts';
import { declaredLength } from '../runtime/http/request-body.ts';
import { documentLimits } from './limits/document-limits.ts';

type Handler = (request: IncomingMessage & { body?: unknown }, response: ServerResponse, next: () => void) => void;

/** Without a valid credential only introspection is answered, which needs no more. */
const anonymousBytes = 64 * 1024;

async function receive(admission: Admission, request: IncomingMessage): Promise<Buffer> {
  const found = await admission.authenticate(request);
  if (found.state === 'ok') return bodyBytes(request, documentLimits.bytes, found.caller.accountId);
  return bodyBytes(request, anonymousBytes).catch((error: unknown) => {
    if (failureWithin(error)?.status !== 413) throw error;
    throw notAuthenticated(found.state);
  });
}

function reject(response: ServerResponse, { status, code, message, headers }: Failure): void {
  response.statusCode = status;
  response.setHeaders(new Map(Object.entries(headers)));
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.end(JSON.stringify({ errors: [{ message, extensions: { code } }] }));
}

/** Receives the body of a request to `/graphql` within the limits, for Yoga, which has none of its own. */
export function receiveBody(admission: Admission): Handler {
  return (request, response, next) => {
    if (declaredLength(request) === 0) return next();
    receive(admission, request).then(
      (bytes) => {
        request.body = Readable.from([bytes]);
        next();
      },
      async (error: unknown) => {
        const refused = await admission.chargeRejected(request, response).catch((over: unknown) => over);
        reject(response, failureWithin(refused) ?? failureWithin(error) ?? internal(error));
      },
    );
  };
}
