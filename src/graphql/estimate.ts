import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import { type DocumentNode, GraphQLError, type GraphQLSchema, getOperationAST } from 'graphql';
import type { Authentication, Caller } from '../access/caller.ts';
import type { EndpointServices, RightsRegistry } from '../access/endpoint-services.ts';
import {
  requireAttestation,
  requireFlow,
  requireOffExchange,
  requireReadable,
  requireSiteSession,
} from '../access/entitlement/entitlement.ts';
import { pointsPerRequest } from '../access/limits/body-points.ts';
import { overMinute, rateExceeded } from '../platform/config/tiers.ts';
import { yieldForBytes } from '../platform/runtime/event-loop.ts';
import {
  type Failure,
  failureWithin,
  internal,
  invalidRequest,
  knownFailure,
  methodNotAllowed,
  notAuthenticated,
  rateLimited,
} from '../platform/wire/failure.ts';
import type { Needs } from '../schema/field-options.ts';
import type { DocumentCache } from './document-cache.ts';
import { publicError } from './errors.ts';
import { parseWithinLimits, validationErrors } from './limits/checked-document.ts';
import { documentLimits, requirePredicted } from './limits/document-limits.ts';
import type { FieldEstimate } from './limits/field-estimates.ts';
import type { FieldWeight } from './limits/predict.ts';
import type { Subject } from './limits/reads.ts';
import { sentPoints } from './limits/sent-points.ts';
import type { OperationWeights, Prediction } from './limits/weighed-operation.ts';
import { requestsOf, type Weight, weights } from './limits/weight.ts';
import { coercedVariables, takeSentText } from './plugins/requests.ts';
import { namedOperation, requestErrorOf, requestErrorWithin, withoutStatus } from './request-error.ts';
import { isIntrospectionOnly, isTypenameOnly } from './scope-groups.ts';

/** Points and requests. Those of a field are its part of the sum; the requests of an operation are whole. */
interface Price {
  points: number;
  requests: number;
}

interface EstimatedField {
  path: string;
  maximum: Price;
  /** Null for a field that the caller may not read. */
  expected: Price | null;
  /** Items of a list over all parents, and the arguments that decide it; null = its own length does. */
  items?: { maximum: number; expected: number | null; boundBy: string | null };
}

/** The answer to an operation that was sent to be estimated. */
export interface Estimate {
  operation: { kind: string; name: string | null } | null;
  /** Charged at most. */
  maximum: Price;
  /** Charged if lists are as long as their arguments say, or as lately. */
  expected: Price;
  /** Charged before it runs; the rest is given back. */
  requested: Price;
  /** Budget of the caller's minute, and the rest of it; null = unknown. */
  minute: { limit: number; remaining: number | null } | null;
  /** Predictions that have a limit. */
  limits: { ids: Limited; leaves: Limited; answerBytes: Limited };
  /** The fields that cost most, in the order of the document. */
  fields: EstimatedField[];
  /** Number of other fields. */
  fieldsOmitted: number;
  /** Errors that it would have. */
  refused: ExpectedError[];
  /** Fields that read a symbol that is known only when it runs, so that they may have other errors. */
  undecided: string[];
}

interface Limited {
  counted: number;
  most: number;
}

/** An operation to be estimated. */
export interface AskedOperation {
  query: string;
  variables: Record<string, unknown>;
  operationName: string | null;
  /** Points of reading its body. */
  sentPoints: number;
}

/** The caller of an operation, and the state of the minute; null = unknown. */
export interface Asker {
  authentication: Authentication;
  /** Requests per minute, and those left. */
  rate: { limit: number; remaining: number | null; resetSeconds: number } | null;
}

/** Dependencies of estimates. */
export interface EstimateParts {
  schema: GraphQLSchema;
  registry: EndpointServices['registry'];
  weigh: OperationWeights;
  documents: Pick<DocumentCache, 'documentCache'>;
  /** True for introspection that is answered for free. */
  isFree: (document: DocumentNode) => boolean;
}

/** Maximum number of fields and errors in an estimate. */
const mostFields = 100;
const mostErrors = 50;

const rounded = (value: number, digits: number) => Math.ceil(value * 10 ** digits) / 10 ** digits;

const fieldPrice = ({ points }: FieldWeight): Price => ({
  points: rounded(points, 2),
  requests: rounded(points / pointsPerRequest, 3),
});

const priceOf = ({ points }: Weight): Price => ({ points: Math.ceil(points), requests: requestsOf(points) });

function estimatedField(
  { path, maximum, expected, isList, boundBy }: FieldEstimate,
  isRefused: boolean,
): EstimatedField {
  const items = isRefused ? null : Math.ceil(expected.items);
  return {
    path,
    maximum: fieldPrice(maximum),
    expected: isRefused ? null : fieldPrice(expected),
    ...(isList && { items: { maximum: Math.ceil(maximum.items), expected: items, boundBy } }),
  };
}

function costliest(fields: readonly FieldEstimate[]): FieldEstimate[] {
  if (fields.length <= mostFields) return [...fields];
  const kept = new Set(fields.toSorted((a, b) => b.maximum.points - a.maximum.points).slice(0, mostFields));
  return fields.filter((field) => kept.has(field));
}

const nothing: Price = { points: 0, requests: 0 };

/** The estimate of an operation that is not weighed: it costs `price`. */
function unweighed(price: Price, { rate }: Asker, refused: ExpectedError[]): Estimate {
  const limited = (most: number): Limited => ({ counted: 0, most });
  return {
    operation: null,
    maximum: price,
    expected: price,
    requested: price,
    minute: minuteOf(rate),
    limits: {
      ids: limited(documentLimits.ids),
      leaves: limited(documentLimits.leaves),
      answerBytes: limited(documentLimits.answerBytes),
    },
    fields: [],
    fieldsOmitted: 0,
    refused,
    undecided: [],
  };
}

function minuteOf(rate: Asker['rate']): Estimate['minute'] {
  if (!rate) return null;
  const remaining = rate.remaining === null ? null : rate.remaining * pointsPerRequest;
  return { limit: rate.limit * pointsPerRequest, remaining };
}

function parsed({ documents: { documentCache } }: EstimateParts, text: string): DocumentNode {
  const document = documentCache.get(text) ?? parseWithinLimits(text);
  documentCache.set(text, document);
  return document;
}

/** Reasons for which admission would reject an operation of this weight. */
function chargeErrors(weight: Weight & Pick<Prediction, 'ids'>, { rate, authentication }: Asker): ExpectedError[] {
  try {
    requirePredicted(weight);
    const cost = requestsOf(weight.points);
    if (rate && cost > rate.limit) throw invalidRequest(overMinute(cost, rate.limit));
    if (rate?.remaining != null && cost > rate.remaining) {
      const anonymous = authentication.state !== 'ok';
      throw rateLimited(rateExceeded(rate.limit, { cost, anonymous }), rate.resetSeconds);
    }
    return [];
  } catch (error) {
    return [expectedError(error)];
  }
}

/** Weighs an operation that fits the schema. */
async function weighedEstimate(
  { weigh, registry }: EstimateParts,
  document: DocumentNode,
  { operationName, sentPoints }: AskedOperation,
  variables: Record<string, unknown>,
  asker: Asker,
): Promise<Estimate> {
  const caller = asker.authentication.state === 'ok' ? asker.authentication.caller : null;
  const { kind, estimate } = weigh(document, operationName);
  const { charged, expected, maximum, ids, fields } = estimate(variables, caller ?? { kind: 'key' }, sentPoints);
  const shown = costliest(fields);
  const limited = (counted: number, most: number): Limited => ({ counted: Math.ceil(counted), most });
  const unreadable = caller ? entitlementErrors(fields, caller, await registry()) : [];
  const isRefused = ({ path }: FieldEstimate) =>
    unreadable.some((error) => path === error.path || path.startsWith(`${error.path}.`));
  const refused = [...chargeErrors({ ...charged, ids }, asker), ...unreadable];
  return {
    operation: { kind, name: getOperationAST(document, operationName)?.name?.value ?? null },
    maximum: priceOf(maximum),
    expected: priceOf(expected),
    requested: priceOf(charged),
    minute: minuteOf(asker.rate),
    limits: {
      ids: limited(ids.count, documentLimits.ids),
      leaves: limited(charged.leaves, documentLimits.leaves),
      answerBytes: limited(charged.bytes, documentLimits.answerBytes),
    },
    fields: shown.map((field) => estimatedField(field, isRefused(field))),
    fieldsOmitted: fields.length - shown.length,
    refused: refused.slice(0, mostErrors),
    undecided: undecidedFields(fields).slice(0, mostErrors),
  };
}

/**
 * Estimates an operation without running it, by the plan that charges it: its cost, what bounds it, and its errors.
 * Entitlement is known for the symbols that the document names.
 */
export async function estimateOperation(parts: EstimateParts, asked: AskedOperation, asker: Asker): Promise<Estimate> {
  const { query, variables: variableValues, operationName, sentPoints } = asked;
  const { authentication } = asker;
  const rejected: Price = { points: Math.ceil(sentPoints), requests: requestsOf(sentPoints) };
  const refuse = (errors: readonly unknown[]) =>
    unweighed(
      rejected,
      asker,
      errors.map((error) => expectedError(error)),
    );
  let document: DocumentNode;
  try {
    document = parsed(parts, query);
  } catch (error) {
    return refuse([error]);
  }
  if (sentPoints === 0 && (parts.isFree(document) || isTypenameOnly(document, operationName)))
    return unweighed(nothing, asker, []);
  if (!getOperationAST(document, operationName))
    return refuse([new GraphQLError('Could not determine what operation to execute.')]);
  // Without a credential, the rest is no more work than it is for an operation.
  if (authentication.state !== 'ok' && !isIntrospectionOnly(document, operationName))
    return refuse([notAuthenticated(authentication.state)]);
  const problems = validationErrors(parts.schema, document);
  if (problems.length > 0) return refuse(problems);
  const { coerced, errors } = await coercedVariables({
    schema: parts.schema,
    document,
    operationName,
    variableValues,
  });
  if (errors) return refuse(errors);
  return weighedEstimate(parts, document, asked, coerced, asker);
}

/** An error that an operation would have. */
interface ExpectedError {
  /** The field that would be null; null = the whole operation is rejected. */
  path: string | null;
  code: string;
  status: number;
  message: string;
  details?: unknown;
}

/** An error of a whole operation as it would be sent; anything unexpected is thrown. */
function expectedError(error: unknown, path: string | null = null): ExpectedError {
  const failure = knownFailure(error);
  const asked = failure ? requestErrorOf(failure) : error;
  const sent: GraphQLError =
    requestErrorWithin(asked) ??
    publicError(
      asked,
      (failure) => {
        throw failure;
      },
      false,
    );
  const { code, details, http } = sent.extensions as { code: string; details?: unknown; http: { status: number } };
  return { path, code, status: http.status, message: sent.message, ...(details !== undefined && { details }) };
}

const checks: Record<Needs, (caller: Caller, path: string) => void> = {
  any: () => {},
  symbol: () => {},
  flow: requireFlow,
  'off-exchange': requireOffExchange,
  'site-session': (caller, path) => requireSiteSession(caller, path),
  'declared-site-session': (caller, path) => {
    requireSiteSession(caller, path);
    requireAttestation(caller, path);
  },
};

const ofSymbol: ReadonlySet<Needs> = new Set(['symbol', 'flow', 'off-exchange']);

function symbolOf(registry: RightsRegistry, subject: Subject): string {
  return 'symbol' in subject ? subject.symbol : registry.roots.of(subject.contract.root).underlying;
}

/** The error of a field that the caller may not read, as far as the document names its symbols; null = none. */
function refusedField({ reads, path }: FieldEstimate, caller: Caller, registry: RightsRegistry): ExpectedError | null {
  try {
    for (const { needs, subject } of reads) {
      checks[needs](caller, path);
      if (subject && ofSymbol.has(needs)) requireReadable(caller, registry.get(symbolOf(registry, subject)) ?? null);
    }
    return null;
  } catch (error) {
    return expectedError(error, path);
  }
}

/** The errors of fields that the caller may not read. */
function entitlementErrors(
  fields: readonly FieldEstimate[],
  caller: Caller,
  registry: RightsRegistry,
): ExpectedError[] {
  return fields.flatMap((field) => refusedField(field, caller, registry) ?? []);
}

/** Fields about which the rights to a symbol decide that is known only when they run. */
function undecidedFields(fields: readonly FieldEstimate[]): string[] {
  const isUndecided = ({ reads }: FieldEstimate) =>
    reads.some(({ needs, subject }) => subject === null && ofSymbol.has(needs));
  return fields.filter(isUndecided).map(({ path }) => path);
}

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
