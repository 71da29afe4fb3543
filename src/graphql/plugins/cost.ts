import type { ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { EndpointServices } from '../../access/endpoint-services.ts';
import { pointsPerRequest } from '../../access/limits/body-points.ts';
import { requestsOf, weights } from '../limits/weight.ts';
import { type OperationState, stateOf } from '../request-state.ts';

/** What an answer says of its cost, in points but for `requests`. */
interface Cost {
  /** Requests taken from the caller's rate. */
  requests: number;
  /** What it might have cost: so much was charged until it was known. */
  requested: number;
  /** What it did cost. */
  actual: number;
  /** What the caller's minute has, and what is left of it. */
  limit: number;
  remaining: number;
}

/** What an answer took; of one that came from the cache, the points that were counted when it was made. */
function actualCost({ charged, cachedPoints, isStopped }: OperationState, result: ExecutionResult) {
  const { prediction } = charged!;
  if (isStopped) return prediction;
  return cachedPoints === undefined ? prediction.actual(result.data) : { points: cachedPoints, leaves: 0 };
}

/**
 * Charges an answer what it did cost, and says so in its `extensions.cost`: put into each answer as it is sent, never
 * into what is cached. What was charged too much is given back to the caller's minute.
 */
export function costExtension({ admission }: EndpointServices): Plugin {
  return {
    onExecute: ({ args }) => ({
      onExecuteDone: async ({ result, setResult }) => {
        const state = stateOf(args as never);
        const { charged, req, res } = state;
        if (!charged || Symbol.asyncIterator in result) return;
        state.actual = actualCost(state, result);
        const points = state.actual.points + (result.errors?.length ?? 0) * weights.error;
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
