import type { ServerResponse } from 'node:http';
import { type ExecutionArgs, type ExecutionResult, GraphQLError, getOperationAST } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { EndpointServices } from '../../access/endpoint-services.ts';
import { isMarketGroup } from '../../core/domain/screener.ts';
import { tellReadInstant } from '../../platform/http/read-instant.ts';
import { requestLife } from '../../platform/http/request-life.ts';
import { type Lifetime, lifetime } from '../../platform/runtime/lifetime.ts';
import { currentRequest } from '../../platform/runtime/request-scope.ts';
import { rateLimited } from '../../platform/wire/failure.ts';
import { admitOperation } from '../admit-operation.ts';
import { operationSpan } from '../execution/operation-span.ts';
import { preparedOperation } from '../execution/prepared-operation.ts';
import { type AnswerLimits, answerInPieces } from '../execution/sliced-execution.ts';
import type { OperationWeights } from '../limits/weighed-operation.ts';
import type { Weight } from '../limits/weight.ts';
import { type HttpContext, type OperationState, requestError, stateOf } from '../request-state.ts';
import { requireEventStream, type Subscribed, sendAnswers, subscribe } from '../sse.ts';
import { type TableRequest, tableRequest } from '../table-request.ts';

/** Answers that may have more values than this are heavy. */
const heavyLeaves = 100_000;
/** The same limit for rows of many values. */
const wide = { leaves: 20_000, leavesARow: 20 };
/** Answers that may have more bytes than this take a slot. */
const largeBytes = 2 * 1024 * 1024;

function isLarge({ leaves, rows }: Weight): boolean {
  return leaves > heavyLeaves || (leaves > wide.leaves && leaves > wide.leavesARow * rows);
}

/** Concurrent heavy answers of a process, over all callers: the limit bounds its memory. */
const slotLimits = { total: 4, each: 2, waiting: 4, patienceMs: 10_000 };

/** The error of a request that names no operation of its document, in the words in which Yoga reports it over HTTP. */
const noOperation = 'Could not determine what operation to execute.';

/**
 * Replaces Yoga's executor: runs operations in time slices; heavy answers queue for each slice, and few of them run at
 * a time. Stops them at their limits or when the client has disconnected.
 */
export function execution(services: EndpointServices, limits: AnswerLimits): Plugin {
  const slots = createSlots(slotLimits);

  /** Holds a slot until the answer has been sent, because it stays in memory until then. */
  async function takeSlot({ charged, res }: OperationState): Promise<void> {
    const request = currentRequest();
    const { counted } = charged!;
    const caller = 'address' in counted ? counted.address : (counted.keyId ?? counted.accountId);
    const release = await slots.take(caller, (giveUp) => request?.onEnd(giveUp) ?? (() => {}));
    // Checked first: a client that has disconnected meanwhile must not hold the slot, nor one whose operation ended
    // before its answer was closed.
    if (release !== null) {
      request?.onEnd(release);
      requestLife(res).onEnd(release);
    }
    request?.requireClient();
    if (release === null) throw rateLimited('Too many large answers at a time. Retry, or request fewer rows.', 1);
  }

  async function execute(args: ExecutionArgs): Promise<ExecutionResult> {
    const state = stateOf(args);
    const table = tableRequest(state.req);
    const operation = preparedOperation(services.schema, args.document, args.operationName, table !== undefined);
    const isHeavy =
      operation.operation.operation === 'query' && state.charged !== undefined && isLarge(state.charged.prediction);
    if (isHeavy) {
      currentRequest()?.isHeavy();
      if (state.charged!.prediction.bytes > largeBytes) await takeSlot(state);
    }
    const onValues = table && ((data: TableRequest['data']) => Object.assign(table, { data }));
    return answerInPieces(operation, state, { limits, isHeavy, onValues });
  }

  return {
    onExecute: ({ args, setExecuteFn, setResultAndStopExecution }) => {
      const { document, operationName, contextValue } = args as unknown as ExecutionArgs;
      if (!getOperationAST(document, operationName)) {
        const error = new GraphQLError(noOperation, { extensions: { code: 'invalid_params' } });
        return setResultAndStopExecution({ errors: [error] });
      }
      const failed = (error: unknown) => ({ errors: [requestError(services, contextValue as OperationState, error)] });
      setExecuteFn((now) =>
        services.span(...operationSpan(document, operationName), () => execute(now as ExecutionArgs).catch(failed)),
      );
    },
  };
}

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

/** Maximum numbers of slot holders, and of those who wait for a slot. */
interface SlotLimits {
  /** Concurrent, of all callers together. */
  total: number;
  /** Concurrent, of one caller. */
  each: number;
  /** Waiting, of one caller. */
  waiting: number;
  /** Longest wait, ms. */
  patienceMs: number;
}

interface Waiter {
  caller: string;
  grant: (release: (() => void) | null) => void;
}

/** Slots of a process. */
interface Slots {
  /**
   * Takes a slot, waiting for one if necessary. The returned function frees it and is idempotent. Null = too many wait,
   * or none was free in time. `whenOver` is given a function that withdraws the request for a slot.
   */
  take(caller: string, whenOver?: (giveUp: () => void) => () => void): Promise<(() => void) | null>;
  /** Slots in use, and requests that wait for one. */
  counts(): { taken: number; waiting: number };
}

/** Creates slots. They are granted in order of arrival, skipping callers at their own limit. */
export function createSlots({ total, each, waiting: mostWaiting, patienceMs }: SlotLimits): Slots {
  const taken = new Map<string, number>();
  const waiting = new Set<Waiter>();
  let count = 0;

  const ofCaller = (caller: string) => taken.get(caller) ?? 0;
  const isFree = (caller: string) => count < total && ofCaller(caller) < each;

  function grant(caller: string): () => void {
    count++;
    taken.set(caller, ofCaller(caller) + 1);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      count--;
      if (ofCaller(caller) === 1) taken.delete(caller);
      else taken.set(caller, ofCaller(caller) - 1);
      for (const waiter of waiting) if (isFree(waiter.caller)) waiter.grant(grant(waiter.caller));
    };
  }

  return {
    take(caller, whenOver) {
      if (isFree(caller)) return Promise.resolve(grant(caller));
      const before = [...waiting].filter((waiter) => waiter.caller === caller).length;
      if (before >= mostWaiting) return Promise.resolve(null);
      return new Promise((resolve) => {
        const waiter: Waiter = {
          caller,
          grant(release) {
            waiting.delete(waiter);
            clearTimeout(timer);
            forget?.();
            resolve(release);
          },
        };
        const timer = setTimeout(() => waiter.grant(null), patienceMs);
        waiting.add(waiter);
        const forget = whenOver?.(() => waiter.grant(null));
      });
    },
    counts: () => ({ taken: count, waiting: waiting.size }),
  };
}
