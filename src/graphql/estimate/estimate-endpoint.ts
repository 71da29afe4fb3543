import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import type { EndpointServices } from '../../access/endpoint-services.ts';
import { yieldForBytes } from '../../platform/runtime/event-loop.ts';
import {
  type Failure,
  failureWithin,
  internal,
  invalidRequest,
  methodNotAllowed,
} from '../../platform/wire/failure.ts';
import { sentPoints } from '../limits/sent-points.ts';
import { requestsOf, weights } from '../limits/weight.ts';
import { takeSentText } from '../plugins/request-form.ts';
import { namedOperation, requestErrorOf, withoutStatus } from '../request-error.ts';
import { type AskedOperation, type Estimate, type EstimateParts, estimateOperation } from './estimate.ts';

/** Estimates an operation for the caller of a request. Throws 429. */
export type EstimateFor = (
  request: IncomingMessage,
  response: ServerResponse,
  operation: AskedOperation,
) => Promise<Estimate>;

/** Usual number of characters of a document per token. */
const charactersPerToken = 4;

/** Number of estimates that an estimate counts for: the requests that reading its document is worth. */
const estimatesOf = ({ query, sentPoints }: AskedOperation): number =>
  requestsOf(sentPoints + (query.length / charactersPerToken) * weights.token);

/** Estimates operations under the limits of their callers. No estimate takes requests. */
export function estimatesFor(services: EndpointServices, parts: EstimateParts): EstimateFor {
  return async (request, response, operation) => {
    const { admission, clientAddress } = services;
    const authentication = await admission.authenticate(request);
    const who = authentication.state === 'ok' ? authentication.caller : { address: clientAddress(request) };
    const rate = await admission.admitEstimate(who, response, estimatesOf(operation));
    return estimateOperation(parts, operation, { authentication, rate });
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Parameters of GraphQL over HTTP; variables in the address are JSON. Throws 400. */
function parametersIn(request: IncomingMessage): Record<string, unknown> {
  const { searchParams } = new URL(request.url ?? '', 'http://localhost');
  const { variables, ...others } = Object.fromEntries(searchParams);
  return { ...others, ...(variables === undefined || variables === '' ? {} : { variables: JSON.parse(variables) }) };
}

/** The operation of a request. Throws 400. */
async function operationOf(request: IncomingMessage): Promise<AskedOperation> {
  const text = takeSentText(request);
  await yieldForBytes(text?.length ?? 0);
  let sent: unknown;
  try {
    sent = text === undefined ? parametersIn(request) : JSON.parse(text);
  } catch {}
  if (isObject(sent)) {
    const { query, variables, operationName } = namedOperation(sent);
    const isNamed = operationName == null || typeof operationName === 'string';
    if (typeof query === 'string' && (variables == null || isObject(variables)) && isNamed)
      return {
        query,
        variables: variables ?? {},
        operationName: operationName ?? null,
        sentPoints: sentPoints({ req: request }),
      };
  }
  throw invalidRequest('Expected a query, and JSON objects as variables and extensions.');
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.end(JSON.stringify(body));
}

function reject(response: ServerResponse, failure: Failure): void {
  response.setHeaders(new Map(Object.entries(failure.headers)));
  sendJson(response, failure.status, { errors: [withoutStatus(requestErrorOf(failure))] });
}

/** True for a request to `/graphql?cost`, whose operation is not run. */
export const asksForEstimate = ({ query }: { query: object }): boolean => Object.hasOwn(query, 'cost');

/** `/graphql?cost`: the estimate of an operation, sent as to `/graphql`. Its body must have been received. */
export function estimateEndpoint(services: EndpointServices, estimate: EstimateFor): RequestHandler {
  return async (request, response) => {
    try {
      if (!['GET', 'HEAD', 'POST'].includes(request.method)) throw methodNotAllowed(request.method, ['GET', 'POST']);
      sendJson(response, 200, await estimate(request, response, await operationOf(request)));
    } catch (error) {
      const over = await services.admission.chargeRejected(request, response).catch((limited: unknown) => limited);
      const failure = failureWithin(over) ?? failureWithin(error) ?? internal(error);
      services.note(request, { code: failure.code });
      if (failure.status >= 500) services.report(request, failure);
      reject(response, failure);
    }
  };
}
