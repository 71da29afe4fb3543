import { type ExecutionArgs, type ExecutionResult, GraphQLError, getOperationAST } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { EndpointServices } from '../../access/endpoint-services.ts';
import { requestLife } from '../../platform/http/request-life.ts';
import { currentRequest } from '../../platform/runtime/request-scope.ts';
import { rateLimited } from '../../platform/wire/failure.ts';
import { operationSpan } from '../execution/operation-span.ts';
import { preparedOperation } from '../execution/prepared-operation.ts';
import { type AnswerLimits, answerInPieces } from '../execution/sliced-execution.ts';
import type { Weight } from '../limits/weight.ts';
import { type OperationState, requestError, stateOf } from '../request-state.ts';
import { createSlots } from '../slots.ts';
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
