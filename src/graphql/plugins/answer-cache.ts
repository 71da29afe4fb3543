import type { ExecutionArgs } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { EndpointServices } from '../../access/endpoint-services.ts';
import { rightsOf } from '../../access/entitlement/recheck.ts';
import { heavyValues } from '../../runtime/json-bytes.ts';
import { WrittenJson } from '../../runtime/json-parts.ts';
import { currentRequest } from '../../runtime/request-scope.ts';
import type { AnswerCache } from '../../runtime/response-cache.ts';
import { type OperationState, stateOf } from '../request-state.ts';
import { isMarketData } from '../scope-groups.ts';
import { written } from '../written-answer.ts';

/**
 * The key under which an answer is cached, null where it must not be. Dashboards of many people ask the same thing over
 * and over: within a second, and while nothing changes that the answer was made from, they get one. The caller's rights
 * are in the key.
 */
function cacheKey({ admitted, params }: OperationState, args: ExecutionArgs, nowMs: number): string | null {
  if (!admitted || !params.query || !isMarketData(admitted.groups)) return null;
  return JSON.stringify([
    rightsOf(admitted.caller),
    Math.floor(nowMs / 1000),
    args.operationName ?? null,
    args.variableValues ?? null,
    params.query,
  ]);
}

/** An answer that is cached: its data as JSON, and the points that it cost. Nothing in it is anybody's own. */
export interface CachedAnswer {
  json: string;
  points: number;
}

/** Caches whole answers as JSON for asking again. Authentication, rate and the in-flight slot come before it. */
export function answerCache(services: EndpointServices, cache: AnswerCache<CachedAnswer>): Plugin {
  /** Stock bars take their slot in flight all the same; where none is left the field itself says so. */
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
        setResultAndStopExecution(written(cached.json));
        return;
      }
      const store = cache.storing(key);
      const dependencies = currentRequest()?.dependencies;
      return {
        onExecuteDone: ({ result, setResult }) => {
          // A large answer is written in pieces as it is sent, and is too large to keep.
          if (Symbol.asyncIterator in result || result.errors?.length) return;
          const { points, leaves } = state.actual!;
          if ((result.data as unknown) instanceof WrittenJson || leaves > heavyValues) return;
          const json = JSON.stringify({ data: result.data });
          if (dependencies) store({ json, points }, dependencies);
          setResult({ ...result, ...written(json) });
        },
      };
    },
  };
}
