import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Admission } from '../access/admission.ts';
import { bodyBytes, declaredLength, utf8Text } from '../platform/http/request-body.ts';
import { type Failure, failureWithin, internal, notAuthenticated } from '../platform/wire/failure.ts';
import { documentBody } from './limits/document-limits.ts';
import { sentPoints, weighBody } from './limits/sent-points.ts';
import { requestsOf } from './limits/weight.ts';
import { setSentText } from './plugins/requests.ts';
import { requestErrorOf, withoutStatus } from './request-error.ts';

type Handler = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;

/** Limit without a valid credential: only introspection is answered then, and its requests are small. */
const anonymousBytes = 64 * 1024;

async function receive(admission: Admission, request: IncomingMessage): Promise<Buffer> {
  const found = await admission.authenticate(request);
  if (found.state === 'ok') return bodyBytes(request, { ...documentBody, caller: found.caller.accountId });
  return await bodyBytes(request, { ...documentBody, maxBytes: anonymousBytes }).catch((error: unknown) => {
    if (failureWithin(error)?.status !== 413) throw error;
    throw notAuthenticated(found.state);
  });
}

/** Receives a body within the limits of size, nesting and values. */
async function receiveReadable(admission: Admission, request: IncomingMessage): Promise<void> {
  const bytes = await receive(admission, request);
  weighBody(request, bytes);
  setSentText(request, utf8Text(bytes));
}

function reject(response: ServerResponse, failure: Failure): void {
  response.statusCode = failure.status;
  response.setHeaders(new Map(Object.entries(failure.headers)));
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.end(JSON.stringify({ errors: [withoutStatus(requestErrorOf(failure))] }));
}

/**
 * Receives the body of a request to `/graphql` within the limits. Yoga has no limits and compares media types
 * literally.
 */
export function receiveBody(admission: Admission): Handler {
  return (request, response, next) => {
    const type = request.headers['content-type'];
    if (type) request.headers['content-type'] = type.replace(/^[^;]*/, (media) => media.trim().toLowerCase());
    if (declaredLength(request) === 0) return next();
    receiveReadable(admission, request).then(next, async (error: unknown) => {
      const cost = requestsOf(sentPoints({ req: request }));
      const refused = await admission.chargeRejected(request, response, cost).catch((over: unknown) => over);
      reject(response, failureWithin(refused) ?? failureWithin(error) ?? internal(error));
    });
  };
}
