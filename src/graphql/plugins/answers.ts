import { Readable } from 'node:stream';
import type { Request } from 'express';
import type { ExecutionArgs, GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { EndpointServices } from '../../access/endpoint-services.ts';
import { rightsOf } from '../../access/entitlement/entitlement.ts';
import { encode, encodingFor } from '../../platform/http/compression.ts';
import { currentRequest } from '../../platform/runtime/request-scope.ts';
import { jsonLines, tableTypes } from '../../platform/wire/column-rows.ts';
import { jsonBuffers, stringified, WrittenJson } from '../../platform/wire/json-chunks.ts';
import type { AnswerCache } from '../../platform/wire/response-cache.ts';
import { boundedErrors, tooManyErrors } from '../error-bounds.ts';
import { publicError } from '../errors.ts';
import type { GraphTables } from '../execution/answer-table.ts';
import { documentLimits } from '../limits/document-limits.ts';
import { sentPoints } from '../limits/sent-points.ts';
import { requestsOf } from '../limits/weight.ts';
import { requestErrorWithin } from '../request-error.ts';
import { type HttpContext, type OperationState, requestError, stateOf } from '../request-state.ts';
import { isMarketData } from '../scope-groups.ts';
import { requestedPath, tableRequest } from '../table-request.ts';

/**
 * The key under which an answer is cached, null if it must not be. Many dashboards send the same operation: within a
 * second, and while the data behind the answer does not change, they share one answer. The caller's rights are part of
 * the key.
 */
function cacheKey(state: OperationState, args: ExecutionArgs, nowMs: number): string | null {
  const { admitted, params } = state;
  // A key contains the variables: large ones would fill the cache.
  if (tableRequest(state.req)) return null;
  if (!admitted || !params.query || !isMarketData(admitted.groups) || sentPoints(state) > 0) return null;
  return JSON.stringify([
    rightsOf(admitted.caller),
    Math.floor(nowMs / 1000),
    args.operationName ?? null,
    args.variableValues ?? null,
    params.query,
  ]);
}

/** A cached answer: its data and its cost in points. It contains nothing of an account. */
export interface CachedAnswer {
  /** JSON. */
  data: Buffer;
  points: number;
}

/** Maximum number of values of a cached answer. */
const mostValues = 20_000;

/**
 * Caches whole answers for repeated operations. Authentication, rate limit and the in-flight slot apply before the
 * cache.
 */
export function answerCache(services: EndpointServices, cache: AnswerCache<CachedAnswer>): Plugin {
  /** Stock bars take an in-flight slot all the same; if none is free, the field itself reports it. */
  async function mayUse(state: OperationState): Promise<boolean> {
    if (!state.admitted!.groups.includes('market.bars')) return true;
    return services.takeInFlightSlot(state).then(
      () => true,
      () => false,
    );
  }

  return {
    onExecute: async ({ args, setResultAndStopExecution }) => {
      const state = stateOf(args as never);
      const key = cacheKey(state, args as unknown as ExecutionArgs, services.now());
      if (key === null || !(await mayUse(state))) return;
      const cached = cache.find(key);
      if (cached !== undefined) {
        state.cachedPoints = cached.points;
        setResultAndStopExecution({ data: new WrittenJson([cached.data]) as never });
        return;
      }
      const store = cache.storing(key);
      const dependencies = currentRequest()?.dependencies;
      if (!store || !dependencies) return;
      return {
        onExecuteDone: ({ result, setResult }) => {
          if (Symbol.asyncIterator in result || result.errors?.length) return;
          const written: unknown = result.data;
          if (!(written instanceof WrittenJson)) return;
          const { points, leaves } = state.actual!;
          if (leaves > mostValues) return;
          const data = Buffer.concat(jsonBuffers(written));
          store({ data, points }, dependencies);
          setResult({ ...result, data: new WrittenJson([data]) as never });
        },
      };
    },
  };
}

/** Media types of answers that are worth it; Parquet is compressed in itself. */
const compressible = new RegExp(
  `^(application/(graphql-response\\+)?json\\b|${[tableTypes.csv, tableTypes.arrow, tableTypes.ndjson, jsonLines].join('|')})`,
);

/**
 * Compresses answers for clients that accept it, as REST does. Event streams are not compressed: each event is sent
 * immediately.
 */
export function compressedAnswers(): Plugin {
  return {
    onResponse: async ({ request, response, setResponse, serverContext, fetchAPI }) => {
      // An answer that is read within the process is not encoded, even if the enclosing request accepts an encoding.
      if (!request.headers.has('accept-encoding') || !compressible.test(response.headers.get('content-type') ?? ''))
        return;
      const bytes = new Uint8Array(await response.arrayBuffer());
      const { req: client } = serverContext as unknown as { req: Request };
      const encoding = encodingFor(bytes.length, (known) => client.acceptsEncodings([...known]));
      const headers = new fetchAPI.Headers(response.headers);
      if (encoding !== null) headers.set('content-encoding', encoding);
      const body = encoding === null ? bytes : await encode(bytes, encoding);
      headers.set('content-length', String(body.length));
      setResponse(new fetchAPI.Response(body, { status: response.status, headers }));
    },
  };
}

/** Answers up to this length are sent as one buffer: copying them is faster than several writes. */
const joinedBytes = 1024 * 1024;

/**
 * Sends answers whose data is already written, with the errors first, where readers look first. A large answer is sent
 * in chunks: one buffer would double its memory. The rest of the response is Yoga's.
 */
export function largeAnswers(): Plugin {
  return {
    onResultProcess: ({ request, result, resultProcessor, setResultProcessor }) => {
      if (!resultProcessor || Array.isArray(result) || Symbol.asyncIterator in result) return;
      const { data, errors, ...beside } = result as { data?: unknown; errors?: unknown };
      if (!(data instanceof WrittenJson)) return;
      const isResponseJson = request.headers.get('accept')?.includes('application/graphql-response+json') === true;
      setResultProcessor(
        async (_result, fetchApi, mediaType) => {
          const parts = jsonBuffers({ parts: stringified({ errors, data, ...beside }) });
          const { status, headers } = await resultProcessor({ data: null }, fetchApi, mediaType);
          const length = parts.reduce((sum, part) => sum + part.length, 0);
          headers.set('content-length', String(length));
          const body = length > joinedBytes ? Readable.from(parts) : Buffer.concat(parts);
          return new fetchApi.Response(body as never, { status, headers });
        },
        isResponseJson ? 'application/graphql-response+json' : 'application/json',
      );
    },
  };
}

/**
 * Answers requests that accept a media type of tables with a list of the answer. An answer is never partial: one with
 * errors is JSON, without data.
 */
export function tableAnswers(services: EndpointServices, read: GraphTables): Plugin {
  return {
    onExecute: ({ args, setResultAndStopExecution }) => {
      const state = stateOf(args as never);
      const asked = tableRequest(state.req);
      if (!asked) return;
      const { document, operationName } = args as unknown as ExecutionArgs;
      try {
        asked.table = read(document, operationName, requestedPath(state.req));
      } catch (error) {
        setResultAndStopExecution({ errors: [requestError(services, state, error)] });
      }
    },
    onResultProcess: ({ result, setResult, resultProcessor, setResultProcessor, serverContext }) => {
      const context = serverContext as unknown as HttpContext;
      const asked = tableRequest(context.req);
      if (!asked || !resultProcessor || Array.isArray(result) || Symbol.asyncIterator in result) return;
      const { errors, extensions = {} } = result;
      const { media, table, data } = asked;
      if (errors?.length || !table || !data) {
        setResult({ errors: errors ?? [], extensions });
        return;
      }
      // Its data is the table.
      setResult({ extensions });
      setResultProcessor(async (_result, fetchApi, accepted) => {
        try {
          const most = services.answerLimits.bytes;
          const { bytes, headers } = await table.write(media, { data, extensions, most });
          return new fetchApi.Response(bytes as never, {
            headers: { ...headers, 'content-length': String(bytes.length) },
          });
        } catch (error) {
          return resultProcessor({ errors: [requestError(services, context, error)], extensions }, fetchApi, accepted);
        }
      }, 'application/graphql-response+json');
    },
  };
}

/** State of the operation that its errors depend on. */
type ErrorContext = HttpContext & Pick<OperationState, 'answerBytes' | 'sentPoints'>;

/**
 * The errors of an answer in public form, each with a code of the contract. A request that failed before it was charged
 * is charged for its body here; if that exceeds the caller's minute, 429 is the only error.
 */
export async function publicErrors(
  services: EndpointServices,
  context: ErrorContext,
  errors: readonly unknown[],
  hasData: boolean,
): Promise<{ errors: GraphQLError[]; isRejected: boolean }> {
  const { req, res, answerBytes = documentLimits.answerBytes } = context;
  const rejected = await services.admission.chargeRejected(req, res, requestsOf(sentPoints(context))).then(
    () => null,
    (error: unknown) => requestError(services, { req, res }, error),
  );
  const shown = (rejected ? [rejected] : errors).map(
    (error) => requestErrorWithin(error) ?? publicError(error, (failure) => services.report(req, failure), hasData),
  );
  const bounded = boundedErrors(shown, hasData && !rejected, answerBytes);
  const sent = bounded ?? [tooManyErrors(answerBytes)];
  services.note(req, { code: String(sent[0]!.extensions.code) });
  return { errors: sent, isRejected: rejected !== null || bounded === null };
}

/** Gives every error of an answer its public form. */
export function errorCodes(services: EndpointServices): Plugin {
  return {
    onResultProcess: async ({ result, setResult, serverContext }) => {
      if (Array.isArray(result) || Symbol.asyncIterator in result || !result.errors?.length) return;
      const context = serverContext as unknown as HttpContext;
      const { errors, isRejected } = await publicErrors(services, context, result.errors, 'data' in result);
      setResult(isRejected ? { errors } : { ...result, errors });
    },
  };
}
