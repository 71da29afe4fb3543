import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLError,
  type GraphQLSchema,
  getOperationAST,
} from 'graphql';
import type { YogaServerInstance } from 'graphql-yoga';
import type { EndpointServices } from '../access/endpoint-services.ts';
import type { Lifetime } from '../platform/runtime/lifetime.ts';
import { jsonBuffers, WrittenJson } from '../platform/wire/json-chunks.ts';
import { publicErrors } from './plugins/answers.ts';
import type { OpenSubscriptions } from './plugins/execution.ts';
import { namedOperation, withoutStatus } from './request-error.ts';
import type { HttpContext } from './request-state.ts';
import type { Subscribed } from './sse.ts';
import type { TrustedDocuments } from './trusted-documents.ts';

/** An operation as it was sent. */
export interface SentOperation {
  query: string;
  variables?: Record<string, unknown>;
  operationName?: string | null;
  /** Points of reading it; always set by the server. */
  sentPoints?: number;
}

/** Runs an operation whose answers go to another connection. Its resources are freed when that ends. */
export type RunOperation = (
  request: IncomingMessage,
  response: ServerResponse,
  operation: SentOperation,
  connection: Lifetime,
) => Promise<ExecutionResult | Subscribed>;

/** Yoga's own steps with every plugin in place, for one operation. */
interface Enveloped {
  parse: (source: string) => DocumentNode;
  validate: (schema: GraphQLSchema, document: DocumentNode) => readonly GraphQLError[];
  contextFactory: () => Promise<unknown>;
  execute: (args: ExecutionArgs) => Promise<unknown>;
  subscribe: (args: ExecutionArgs) => Promise<unknown>;
  schema: GraphQLSchema;
}

/** The result with its data as values, also if it was written as JSON. */
function withPlainData(result: ExecutionResult): ExecutionResult {
  const data: unknown = result.data;
  return data instanceof WrittenJson
    ? { ...result, data: JSON.parse(String(Buffer.concat(jsonBuffers(data)))) }
    : result;
}

/** Runs operations for an open connection: returns a query's answer, or the opened subscription. */
export function operationRunner(
  services: EndpointServices,
  yoga: YogaServerInstance<HttpContext, object>,
  { open, trusted }: { open: OpenSubscriptions; trusted: TrustedDocuments },
): RunOperation {
  async function run(
    { parse, validate, contextFactory, execute, subscribe, schema }: Enveloped,
    request: IncomingMessage,
    sent: SentOperation,
  ) {
    await trusted.requireFor(request, sent.query);
    const document = parse(sent.query);
    const problems = validate(schema, document);
    if (problems.length > 0) return { errors: problems };
    const operationName = sent.operationName ?? null;
    const contextValue = await contextFactory();
    const args = { schema, document, contextValue, variableValues: sent.variables, operationName } as ExecutionArgs;
    const isSubscription = getOperationAST(document, operationName)?.operation === 'subscription';
    return (await (isSubscription ? subscribe : execute)(args)) as ExecutionResult;
  }

  return async (req, res, operation, connection): Promise<ExecutionResult | Subscribed> => {
    const params = namedOperation(operation);
    const exchange = { req, res, answerBytes: answerBytesInProcess, sentPoints: params.sentPoints ?? 0 };
    const enveloped = yoga.getEnveloped({ ...exchange, params, connection } as never) as unknown as Enveloped;
    const result = withPlainData(
      await run(enveloped, req, params).catch(
        (error: unknown): ExecutionResult => ({ errors: [error as GraphQLError] }),
      ),
    );
    const subscribed = open.get(res);
    if (subscribed) return subscribed;
    if (!result.errors?.length) return result;
    const { errors, isRejected } = await publicErrors(services, exchange, result.errors, 'data' in result);
    const sent = errors.map(withoutStatus);
    return isRejected ? { errors: sent } : { ...result, errors: sent };
  };
}

/** Size limit of an answer that is read within the process, bytes: it is parsed in one go. */
const answerBytesInProcess = 4 * 1024 * 1024;

/**
 * Sends a document to the graph from within the process: with the credential, limits, cost and usage of a request to
 * `/graphql`. `request` and `response` are those of the enclosing request.
 */
export function askThrough(yoga: YogaServerInstance<HttpContext, object>) {
  return async (
    query: string,
    variables: Record<string, unknown>,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<ExecutionResult> => {
    const answer = await yoga.fetch(
      'http://localhost/graphql',
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
      },
      { req: request, res: response, answerBytes: answerBytesInProcess, sent: { query, variables } } as HttpContext,
    );
    return (await answer.json()) as ExecutionResult;
  };
}
