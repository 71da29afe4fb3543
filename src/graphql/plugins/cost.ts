import type { ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { EndpointServices } from '../../access/endpoint-services.ts';
import { pointsPerRequest } from '../../access/limits/body-points.ts';
import { requestsOf, weights } from '../limits/weight.ts';
import { type OperationState, stateOf } from '../request-state.ts';

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
