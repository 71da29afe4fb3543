import { type ExecutionArgs, type ExecutionResult, getOperationAST, OperationTypeNode } from 'graphql';
import { yieldToEventLoop } from '../../runtime/event-loop.ts';
import { type Failure, limitExceeded } from '../../wire/failure.ts';
import { stateOf } from '../request-state.ts';
import { executeInPieces } from './execute.ts';
import { OverLimit, Pieces } from './sliced-work.ts';

/** Limits of an answer. */
export interface AnswerLimits {
  /** Bytes of its JSON. */
  bytes: number;
  /** Processing time, ms; waiting in the queue does not count. */
  ms: number;
}

const inWords = (count: number) => Math.ceil(count).toLocaleString('en-US');

function overLimit({ limit }: OverLimit, { bytes, ms }: AnswerLimits, counted: number): Failure {
  const smaller = 'Request fewer symbols, rows or fields.';
  const message =
    limit === 'characters'
      ? `The answer has more than ${inWords(bytes)} bytes: ${inWords(counted)} were counted when it was stopped. ${smaller}`
      : `The answer took more than ${inWords(ms)} ms to make: ${inWords(counted)} bytes were written when it was stopped. ${smaller}`;
  const details = limit === 'characters' ? { limit: 'bytes', counted, most: bytes } : { limit: 'ms', most: ms };
  return limitExceeded(message, details);
}

/**
 * Most that the answer of an operation may take. A mutation is not stopped: its answer says what was changed. How large
 * it can be is decided before it runs.
 */
function limitsOf({ document, operationName }: ExecutionArgs, limits: AnswerLimits, answerBytes = Infinity) {
  if (getOperationAST(document, operationName)?.operation === OperationTypeNode.MUTATION)
    return { bytes: Infinity, ms: Infinity };
  return { bytes: Math.min(limits.bytes, answerBytes), ms: limits.ms };
}

/**
 * Executes an operation in pieces, with the variables that were read before it was admitted. Pieces of the first
 * `lightMs` of processing time do not wait for their turn. Rejects when a limit is reached or the client has
 * disconnected.
 */
export async function answerInPieces(args: ExecutionArgs, limits: AnswerLimits, lightMs = 0): Promise<ExecutionResult> {
  const state = stateOf(args);
  const most = limitsOf(args, limits, state.answerBytes);
  const pieces = new Pieces({
    turn: yieldToEventLoop,
    limits: { characters: most.bytes, ms: most.ms },
    lightMs,
    now: () => performance.now(),
  });
  Object.assign(state, { batchSchedule: pieces.batch });
  try {
    const { data, errors } = await executeInPieces({ ...args, variableValues: state.variables }, pieces);
    const result = { ...(errors.length > 0 && { errors }), ...(data !== undefined && { data }) };
    return result as ExecutionResult;
  } catch (error) {
    state.isStopped = true;
    throw error instanceof OverLimit ? overLimit(error, most, pieces.characters) : error;
  }
}
