import { type ExecutionResult, OperationTypeNode } from 'graphql';
import { yieldToEventLoop } from '../../platform/runtime/event-loop.ts';
import type { OneCommit } from '../../platform/runtime/once-per-request.ts';
import { currentRequest } from '../../platform/runtime/request-scope.ts';
import { Failure, limitExceeded } from '../../platform/wire/failure.ts';
import { stringified, WrittenJson } from '../../platform/wire/json-chunks.ts';
import type { OperationState } from '../request-state.ts';
import { type Executed, execute } from './execute.ts';
import { Execution, type ExecutionValues } from './execution.ts';
import { WrittenData } from './leaf-tally.ts';
import type { PreparedOperation } from './prepared-operation.ts';
import { OverLimit, type PieceLimits, Pieces } from './sliced-work.ts';

/** Limits of an answer. */
export interface AnswerLimits {
  /** Bytes of its JSON. */
  bytes: number;
  /** Processing time, ms, without the time in the queue. */
  ms: number;
}

const unlimited: AnswerLimits = { bytes: Infinity, ms: Infinity };

/** Processing time, ms, before an operation queues with heavy work. */
const lightMs = 5;

const piecesOf = ({ bytes, ms }: AnswerLimits, light: number) =>
  new Pieces({
    turn: yieldToEventLoop,
    turns: () => currentRequest()?.turns ?? null,
    limits: { characters: bytes, ms },
    lightMs: light,
    now: () => performance.now(),
  });

/**
 * Runs an operation in time slices. Rejects when the client has disconnected, or at one of `limits`, which a mutation
 * does not have.
 * @param rootValue The event that a subscription is executed on.
 */
export async function executeInPieces(
  operation: PreparedOperation,
  contextValue: object,
  variableValues: Record<string, unknown>,
  {
    rootValue,
    limits = unlimited,
    inFlight,
  }: { rootValue?: unknown; limits?: AnswerLimits | undefined; inFlight?: ExecutionValues['inFlight'] } = {},
): Promise<Executed> {
  const most = limitsOf(operation, limits);
  let pieces!: Pieces;
  try {
    return await ofOneCommit(operation, contextValue, () => {
      pieces = piecesOf(most, lightMs);
      Object.assign(contextValue, { batchSchedule: pieces.batch });
      return pieces.run(() => execute(operation, { rootValue, contextValue, variableValues, inFlight }, pieces));
    });
  } catch (error) {
    throw error instanceof OverLimit ? overLimit(error.limit, most, pieces.characters) : error;
  }
}

/** Runs an operation, again if what it read was not of one commit; a mutation once. The schema itself reads nothing. */
function ofOneCommit<T>({ operation }: PreparedOperation, context: object, run: () => Promise<T>): Promise<T> {
  const reads = context as Partial<OneCommit>;
  const isFinal = (error: unknown) =>
    error instanceof OverLimit || (error instanceof Failure && error.code === 'client_gone');
  return reads.ofOneCommit?.(run, operation.operation !== OperationTypeNode.MUTATION, isFinal) ?? run();
}

/**
 * The source of a subscription's events, again if what it read was not of one commit; `undo` ends one that was begun
 * before. Rejects with a `GraphQLError` if the subscription cannot begin.
 */
export function sourceOf<T>(
  operation: PreparedOperation,
  values: ExecutionValues & { contextValue: object },
  undo: (source: T) => Promise<unknown>,
): Promise<T> {
  let begun: T | null = null;
  return ofOneCommit(operation, values.contextValue, async () => {
    if (begun) await undo(begun);
    begun = null;
    const run = new Execution(operation.plan(values.variableValues), values, piecesOf(unlimited, lightMs));
    begun = (await run.source()) as T;
    return begun;
  });
}

const inWords = (count: number) => Math.ceil(count).toLocaleString('en-US');

function overLimit(limit: keyof PieceLimits, { bytes, ms }: AnswerLimits, counted: number): Failure {
  const smaller = 'Request fewer symbols, rows or fields.';
  const message =
    limit === 'characters'
      ? `The answer has more than ${inWords(bytes)} bytes: ${inWords(counted)} were counted when it was stopped. ${smaller}`
      : `The answer took more than ${inWords(ms)} ms to make: ${inWords(counted)} bytes were written when it was stopped. ${smaller}`;
  const details = limit === 'characters' ? { limit: 'bytes', counted, most: bytes } : { limit: 'ms', most: ms };
  return limitExceeded(message, details);
}

/**
 * Limits on the answer of an operation. A mutation is not stopped, because its answer says what was changed; its size
 * is limited before it runs.
 */
function limitsOf({ operation }: PreparedOperation, limits: AnswerLimits, answerBytes = Infinity): AnswerLimits {
  if (operation.operation === OperationTypeNode.MUTATION) return unlimited;
  return { bytes: Math.min(limits.bytes, answerBytes), ms: limits.ms };
}

/**
 * Executes an operation in time slices, with the variables coerced before admission, and writes its data. The first
 * slices of an operation that is not heavy do not queue. Rejects when a limit is reached or the client has
 * disconnected. `onValues` takes the data instead, if it is wanted as values.
 */
export async function answerInPieces(
  operation: PreparedOperation,
  state: OperationState,
  {
    limits,
    isHeavy,
    onValues,
  }: { limits: AnswerLimits; isHeavy: boolean; onValues?: ((data: Executed['data']) => void) | undefined },
): Promise<ExecutionResult> {
  const most = limitsOf(operation, limits, state.answerBytes);
  let pieces!: Pieces;
  const inFlight = state.charged?.prediction.inFlight();
  const values = { rootValue: undefined, contextValue: state, variableValues: state.variables!, inFlight };
  try {
    const { data, errors } = await ofOneCommit(operation, state, () => {
      pieces = piecesOf(most, isHeavy ? 0 : lightMs);
      Object.assign(state, { batchSchedule: pieces.batch });
      return pieces.run(async () => {
        const executed = await execute(operation, values, pieces);
        if (!onValues) return written(executed, pieces);
        onValues(executed.data);
        const { data, errors, root, tallies } = executed;
        return { data: data && new WrittenData(new WrittenJson([]), root, tallies), errors };
      });
    });
    return { ...(errors.length > 0 && { errors }), data: data as never };
  } catch (error) {
    state.isStopped = true;
    throw error instanceof OverLimit ? overLimit(error.limit, most, pieces.characters) : error;
  }
}

/** Result of an execution with its data as JSON. */
export function written({ data, errors, root, tallies }: Executed, pieces: Pick<Pieces, 'wrote'>) {
  const json = new WrittenJson(stringified(data, pieces.wrote));
  return { data: data && new WrittenData(json, root, tallies), errors };
}
