import type { IncomingMessage } from 'node:http';
import { type DocumentNode, type ExecutionArgs, type ExecutionResult, GraphQLError, getOperationAST } from 'graphql';
import type { GraphQLParams, Plugin } from 'graphql-yoga';
import type { EndpointServices } from '../../access/endpoint-services.ts';
import { hasCredential } from '../../access/identity/credential.ts';
import { pointsPerRequest } from '../../access/limits/body-points.ts';
import { isMarketGroup } from '../../core/domain/screener.ts';
import { tellReadInstant } from '../../platform/http/read-instant.ts';
import { requestLife } from '../../platform/http/request-life.ts';
import { yieldForBytes } from '../../platform/runtime/event-loop.ts';
import { invalidRequest, unauthenticated, unsupportedMediaType } from '../../platform/wire/failure.ts';
import { WrittenJson } from '../../platform/wire/json-chunks.ts';
import { jsonFailure } from '../../platform/wire/sent-text.ts';
import { admitAnonymous, admitOperation } from '../admit-operation.ts';
import { type CoercedVariables, coerceVariables } from '../execution/variables.ts';
import { parseWithinLimits, validationErrors } from '../limits/checked-document.ts';
import { sentPoints } from '../limits/sent-points.ts';
import type { OperationWeights } from '../limits/weighed-operation.ts';
import { requestsOf, weights } from '../limits/weight.ts';
import { namedOperation, requestErrorOf, withQuery } from '../request-error.ts';
import { type HttpContext, type OperationState, requestError, stateOf } from '../request-state.ts';
import { isIntrospectionOnly, isTypenameOnly } from '../scope-groups.ts';
import type { TrustedDocuments } from '../trusted-documents.ts';

const textOf = new WeakMap<IncomingMessage, string>();

/** Stores the text of a received body: Yoga would read it through streams and copies of its own. */
export function setSentText(request: IncomingMessage, text: string): void {
  textOf.set(request, text);
}

/** The text of a received body, which is read once; undefined = the request had none. */
export function takeSentText(request: IncomingMessage): string | undefined {
  const text = textOf.get(request);
  textOf.delete(request);
  return text;
}

/** The body of an operation, if it was already received as JSON; it is parsed when it is scheduled. */
function receivedBody({ req, sent }: HttpContext, trusted: TrustedDocuments): Pick<Request, 'json'> | null {
  if (sent !== undefined) return { json: async () => sent };
  const text = takeSentText(req);
  if (text === undefined) return null;
  return {
    async json() {
      const value: unknown = JSON.parse(text);
      await yieldForBytes(text.length);
      // Yoga knows no documentId.
      return typeof value === 'object' && value !== null ? trusted.named(value) : value;
    },
  };
}

/** The id of a document in the address of a GET request; null = none. */
function idInAddress({ method, url }: Pick<Request, 'method' | 'url'>): string | null {
  return method === 'GET' ? new URL(url).searchParams.get('documentId') : null;
}

/**
 * Reads requests, also by the id of a document. Reports in the contract's words why a request is not GraphQL:
 * Yoga answers an unknown content type with no body, and treats malformed JSON in the address's variables as a server
 * error.
 */
export function requestForm(trusted: TrustedDocuments): Plugin<object> {
  return {
    onRequestParse: ({ requestParser, setRequestParser, serverContext }) => {
      setRequestParser(async (request) => {
        if (!requestParser) throw requestErrorOf(unsupportedMediaType('application/json'));
        try {
          const received = receivedBody(serverContext as unknown as HttpContext, trusted);
          const read = await requestParser((received as Request | null) ?? request);
          const documentId = idInAddress(request);
          const named = (documentId === null ? read : trusted.named({ ...read, documentId })) as GraphQLParams;
          const params = withQuery(named, (id) => trusted.find(id));
          await trusted.requireFor((serverContext as unknown as HttpContext).req, params.query ?? '');
          return 'operationName' in params ? namedOperation(params) : params;
        } catch (error) {
          if (error instanceof GraphQLError) throw error;
          throw requestErrorOf(invalidRequest('Expected a query, and JSON objects as variables and extensions.'));
        }
      });
    },
  };
}

/**
 * Puts the read instant of an answer with market data into its `extensions.readAt`, epoch ms, as it is sent, and into a
 * header.
 */
export function readInstant(): Plugin {
  return {
    onExecute: ({ args }) => ({
      onExecuteDone: ({ result, setResult }) => {
        const { admitted, res } = stateOf(args as never);
        if (!admitted?.groups.some(isMarketGroup) || Symbol.asyncIterator in result) return;
        setResult({ ...result, extensions: { ...result.extensions, readAt: tellReadInstant(res) } });
      },
    }),
  };
}

/**
 * Admits every operation before it runs, and counts its usage afterwards. Introspection requires no credential: without
 * one it is charged to the client's address. `{ __typename }`, which tools send as a health check, is free unless its
 * body is large.
 */
export function operationAdmission(services: EndpointServices, weigh: OperationWeights): Plugin {
  return {
    onExecute: async ({ args, setResultAndStopExecution }) => {
      const given = args as unknown as ExecutionArgs;
      const { document, operationName } = given;
      const state = stateOf(given);
      if (isTypenameOnly(document, operationName) && sentPoints(state) === 0) return;
      const life = requestLife(state.res);
      try {
        const isPublic = isIntrospectionOnly(document, operationName);
        if (isPublic && (await services.admission.recognize(state.req)) === null)
          await admitAnonymous(services, weigh, given);
        else await admitOperation(services, weigh, given, life);
      } catch (error) {
        life.end();
        setResultAndStopExecution({ errors: [requestError(services, state, error)] });
        return;
      }
      return {
        onExecuteDone: () => {
          life.end();
          if (state.admitted) services.admission.count(state.admitted.caller, state.admitted.groups);
        },
      };
    },
  };
}

/**
 * Bounds parsing and validation. A document that reads more than the schema requires a credential: without one it is
 * rejected before any further work.
 */
export function documentBounds(
  isStandardIntrospection: (document: DocumentNode) => boolean,
  trusted: TrustedDocuments,
): Plugin {
  return {
    onParse: ({ params: { source }, setParseFn }) => {
      trusted.require(String(source));
      setParseFn(parseWithinLimits);
    },
    onValidate: ({ params: { documentAST }, context, setResult, setValidationFn }) => {
      const document = documentAST as DocumentNode;
      const { req, params } = context as unknown as OperationState;
      if (isStandardIntrospection(document)) return setResult([]);
      // Thrown instead of returned: validation results are cached for all callers.
      if (!hasCredential(req.headers) && !isIntrospectionOnly(document, params.operationName))
        throw requestErrorOf(unauthenticated());
      setValidationFn(validationErrors);
    },
  };
}

/** Answers the standard introspection query from the cache. It is public and free for every caller. */
export function standardIntrospectionAnswers(answerTo: (document: DocumentNode) => Buffer | null): Plugin {
  return {
    onExecute: ({ args, setResultAndStopExecution }) => {
      // With a large body it is charged like any other document.
      if (sentPoints(stateOf(args as never)) > 0) return;
      const data = answerTo(args.document as DocumentNode);
      if (data !== null) setResultAndStopExecution({ data: new WrittenJson([data]) as never });
    },
  };
}

/** Coerces the variables of an operation by their types. */
export async function coercedVariables({
  schema,
  document,
  operationName,
  variableValues,
}: Pick<ExecutionArgs, 'schema' | 'document' | 'operationName' | 'variableValues'>): Promise<CoercedVariables> {
  const sent = variableValues ?? {};
  const failure = jsonFailure(sent, 'variables');
  if (failure) {
    const { message, details } = failure;
    const extensions = { code: 'invalid_params', ...(details ? { details } : {}) };
    return { errors: [new GraphQLError(message, { extensions })] };
  }
  const operation = getOperationAST(document, operationName);
  // The executor reports that the document has no such operation.
  return operation ? coerceVariables(schema, operation, sent) : { coerced: {} };
}

/** Coerces the variables of an operation. Returns the errors. */
async function readVariables(args: ExecutionArgs): Promise<readonly GraphQLError[]> {
  const { coerced, errors } = await coercedVariables(args);
  if (errors) return errors;
  stateOf(args).variables = coerced;
  return [];
}

/**
 * Coerces variables once, before admission, for weighing and execution. Rejects those that cannot be stored, are nested
 * too deep, or do not fit their types.
 */
export function variables(): Plugin {
  return {
    onExecute: async ({ args, setResultAndStopExecution }) => {
      const errors = await readVariables(args as unknown as ExecutionArgs);
      if (errors.length > 0) setResultAndStopExecution({ errors: [...errors] });
    },
    onSubscribe: async ({ args, setResultAndStopExecution }) => {
      const errors = await readVariables(args as unknown as ExecutionArgs);
      if (errors.length > 0) setResultAndStopExecution({ errors: [...errors] });
    },
  };
}

/** Cost of an answer, in points except `requests`. */
interface Cost {
  /** Requests taken from the caller's rate. */
  requests: number;
  /** Predicted cost, which is charged until the actual cost is known. */
  requested: number;
  /** Actual cost. */
  actual: number;
  /** Budget of the caller's minute, and the rest of it. */
  limit: number;
  remaining: number;
}

/** Actual cost of an answer; for a cached one, the points that were counted when it was made. */
function actualCost({ charged, cachedPoints, isStopped }: OperationState, result: ExecutionResult) {
  const { prediction } = charged!;
  if (isStopped) return prediction;
  return cachedPoints === undefined ? prediction.actual(result.data) : { points: cachedPoints, leaves: 0 };
}

/**
 * Points that an answer is charged: those counted, with those of its errors, at most the maximum that an estimate of
 * its operation names.
 */
function chargedPoints({ charged, actual }: OperationState, errors: number): number {
  const { prediction } = charged!;
  const counted = actual!.points + errors * weights.error;
  return counted > prediction.points ? Math.min(counted, prediction.maximum().points) : counted;
}

/**
 * Charges an answer its actual cost and reports it in `extensions.cost`, which is added to each answer as it is sent,
 * never to a cached one. The overcharge is given back to the caller's minute.
 */
export function costExtension({ admission }: EndpointServices): Plugin {
  return {
    onExecute: ({ args }) => ({
      onExecuteDone: async ({ result, setResult }) => {
        const state = stateOf(args as never);
        const { charged, req, res } = state;
        if (!charged || Symbol.asyncIterator in result) return;
        state.actual = actualCost(state, result);
        const points = chargedPoints(state, result.errors?.length ?? 0);
        const { cost: requests, rate } = await admission.settle(charged, req, res, requestsOf(points));
        const cost: Cost = {
          requests,
          requested: Math.ceil(charged.prediction.points),
          actual: Math.ceil(points),
          limit: rate.limit * pointsPerRequest,
          remaining: rate.remaining * pointsPerRequest,
        };
        setResult({ ...result, extensions: { ...result.extensions, cost } });
      },
    }),
  };
}
