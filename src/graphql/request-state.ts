import type { IncomingMessage, ServerResponse } from 'node:http';
import { GraphQLError } from 'graphql';
import type { Admitted, Charged } from '../access/admission.ts';
import type { EndpointServices } from '../access/endpoint-services.ts';
import type { Lifetime } from '../platform/runtime/lifetime.ts';
import { internal, knownFailure } from '../platform/wire/failure.ts';
import type { Prediction } from './limits/weighed-operation.ts';
import { requestErrorOf } from './request-error.ts';

/** The HTTP exchange in Yoga's context. */
export interface HttpContext {
  req: IncomingMessage;
  res: ServerResponse;
  /** The operation, if it was not sent as the body of the request. */
  sent?: { query: string; variables: Record<string, unknown> };
}

/**
 * One operation on its way through the plugins. Each field has one writer:
 *
 * | field                  | written by                 | read by                                       |
 * |------------------------|----------------------------|-----------------------------------------------|
 * | sent, answerBytes      | run-operation              | endpoints, plugins/execution, plugins/answers |
 * | sentPoints, connection | run-operation              | sent-points, plugins/execution                |
 * | variables              | plugins/requests           | admit-operation, plugins/execution            |
 * | admitted, charged      | admit-operation            | plugins/requests, answers and execution       |
 * | cachedPoints           | plugins/answers            | plugins/requests                              |
 * | isStopped              | execution/sliced-execution | plugins/requests                              |
 * | actual                 | plugins/requests           | plugins/answers                               |
 */
export type OperationState = HttpContext & {
  params: { query?: string; operationName?: string };
  /** Its coerced variables; absent until they are read. */
  variables?: Record<string, unknown>;
  /** Points of reading it, if it is not the whole body of its request. */
  sentPoints?: number;
  /** Absent until the operation is admitted, and for pure introspection, which is public. */
  admitted?: Admitted & { groups: readonly string[] };
  /** Charge and prediction of the operation; absent until charged, and for free operations. */
  charged?: Charged & { prediction: Prediction };
  /** Actual size of its answer once known; and the points of a cached answer. */
  actual?: { points: number; leaves: number };
  cachedPoints?: number;
  /** True if it was stopped before the end: it costs its prediction. */
  isStopped?: boolean;
  /** Size limit of its answer, bytes, if lower than usual. */
  answerBytes?: number;
  /** The connection that carries a subscription's events, if it is not the request's own. */
  connection?: Lifetime;
};

/** Yoga's context of an operation as this state. */
export function stateOf({ contextValue }: { contextValue?: unknown }): OperationState {
  return contextValue as OperationState;
}

/** An error that ends the whole request; one that is not the client's is logged. */
export function requestError(services: EndpointServices, { req }: HttpContext, error: unknown): GraphQLError {
  if (error instanceof GraphQLError) return error;
  const failure = knownFailure(error) ?? internal(error);
  if (failure.status >= 500) services.report(req, failure);
  return requestErrorOf(failure);
}
