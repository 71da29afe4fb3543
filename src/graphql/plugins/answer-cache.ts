import type { ExecutionArgs } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { EndpointServices } from '../../access/endpoint-services.ts';
import { rightsOf } from '../../access/entitlement/recheck.ts';
import { currentRequest } from '../../platform/runtime/request-scope.ts';
import { jsonBuffers, WrittenJson } from '../../platform/wire/json-chunks.ts';
import type { AnswerCache } from '../../platform/wire/response-cache.ts';
import { sentPoints } from '../limits/sent-points.ts';
import { type OperationState, stateOf } from '../request-state.ts';
import { isMarketData } from '../scope-groups.ts';
import { tableRequest } from '../table-request.ts';

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
