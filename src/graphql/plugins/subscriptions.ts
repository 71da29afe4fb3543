import type { ServerResponse } from 'node:http';
import type { ExecutionArgs, GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { EndpointServices } from '../../access/endpoint-services.ts';
import { isMarketGroup } from '../../core/domain/market-group.ts';
import { tellReadInstant } from '../../platform/http/read-instant.ts';
import { requestLife } from '../../platform/http/request-life.ts';
import { type Lifetime, lifetime } from '../../platform/runtime/lifetime.ts';
import { admitOperation } from '../admit-operation.ts';
import type { OperationWeights } from '../limits/weighed-operation.ts';
import { type HttpContext, type OperationState, requestError, stateOf } from '../request-state.ts';
import { requireEventStream, type Subscribed, sendAnswers, subscribe } from '../sse/subscription.ts';

/** Open subscriptions by the response of the request that opened them, until the stream begins. */
export type OpenSubscriptions = WeakMap<ServerResponse, Subscribed>;

/**
 * Admits a subscription like any request and counts it immediately. Its slots are freed when its connection ends. A
 * subscription with a connection of its own counts as one of the caller's streams; otherwise the connection does.
 */
async function admitSubscription(
  services: EndpointServices,
  weigh: OperationWeights,
  args: ExecutionArgs,
): Promise<Subscribed | { errors: readonly GraphQLError[] }> {
  const state = stateOf(args);
  const life = lifetime();
  connectionOf(state).onEnd(life.end);
  // Slots taken before its cost was known are freed immediately.
  const request = lifetime();
  try {
    await admitOperation(services, weigh, args, request);
    const { caller, groups } = state.admitted!;
    services.admission.count(caller, groups);
    if (groups.some(isMarketGroup)) tellReadInstant(state.res);
    if (!state.connection) life.onEnd(services.admission.takeStreamSlot(caller));
    const { points } = state.charged!.prediction;
    const asked = { caller, groups, query: state.params.query ?? '', variables: state.variables ?? {}, points };
    const subscribed = await subscribe(services, args, asked, state.req, life);
    return 'errors' in subscribed ? subscribed : Object.assign(subscribed, { charged: state.charged });
  } catch (error) {
    life.end();
    throw error;
  } finally {
    request.end();
  }
}

/**
 * The connection that carries the events: the request's own, which must accept event streams, unless another is given.
 */
function connectionOf({ req, res, connection }: OperationState): Lifetime {
  if (connection) return connection;
  requireEventStream(req);
  return requestLife(res);
}

/** Admits subscriptions, and sends the events of each on its own connection unless another is given. */
export function subscriptionStreams(
  services: EndpointServices,
  weigh: OperationWeights,
  open: OpenSubscriptions,
): Plugin {
  return {
    onSubscribe: async ({ args, setSubscribeFn, setResultAndStopExecution }) => {
      const state = stateOf(args as never);
      try {
        const subscribed = await admitSubscription(services, weigh, args as unknown as ExecutionArgs);
        if ('errors' in subscribed) return setResultAndStopExecution({ errors: [...subscribed.errors] });
        open.set(state.res, subscribed);
        setSubscribeFn(async () => subscribed.answers.source);
      } catch (error) {
        setResultAndStopExecution({ errors: [requestError(services, state, error)] });
      }
    },
    onResultProcess: ({ result, serverContext, setResultProcessor }) => {
      const { req, res } = serverContext as unknown as HttpContext;
      const subscribed = open.get(res);
      if (!subscribed || Array.isArray(result) || !(Symbol.asyncIterator in result)) return;
      setResultProcessor(async (_result, fetchApi) => {
        await sendAnswers(subscribed, req, res, (failure) => services.report(req, failure));
        // The whole response has been written; the returned one is not sent.
        return new fetchApi.Response(null);
      }, 'text/event-stream');
    },
  };
}
