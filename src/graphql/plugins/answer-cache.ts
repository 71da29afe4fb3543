import type { ExecutionArgs } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { EndpointServices } from '../../access/endpoint-services.ts';
import { rightsOf } from '../../access/entitlement/recheck.ts';
import { currentRequest } from '../../runtime/request-scope.ts';
import { jsonBuffers, WrittenJson } from '../../wire/json-chunks.ts';
import type { AnswerCache } from '../../wire/response-cache.ts';
import { sentPoints } from '../limits/sent-points.ts';
import { type OperationState, stateOf } from '../request-state.ts';
import { isMarketData } from '../scope-groups.ts';

/**
 * The key under which an answer is cached, null where it must not be. Dashboards of many people ask the same thing over
 * and over: within a second, and while nothing changes that the answer was made from, they get one. The caller's rights
 * are in the key.
 */
function cacheKey(state: OperationState, args: ExecutionArgs, nowMs: number): string | null {
  const { admitted, params } = state;
  // A key holds the variables: large ones would fill the cache.
  if (!admitted || !params.query || !isMarketData(admitted.groups) || sentPoints(state) > 0) return null;
  return JSON.stringify([
    rightsOf(admitted.caller),
    Math.floor(nowMs / 1000),
    args.operationName ?? null,
    args.variableValues ?? null,
    params.query,
  ]);
}

/** An answer that is cached: its data, and the points that it cost. Nothing in it is anybody's own. */
export interface CachedAnswer {
  /** JSON. */
  data: Buffer;
  points: number;
  /** Its note on simulated data in it; null = none. */
  note: string | null;
}

/** Values of an answer that is cached. */
const mostValues = 20_000;

/** Caches whole answers for asking again. Authentication, rate and the in-flight slot come before it. */
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
        state.cachedNote = cached.note;
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
          store({ data, points, note: services.simulatedNote() }, dependencies);
          setResult({ ...result, data: new WrittenJson([data]) as never });
        },
      };
    },
  };
}
