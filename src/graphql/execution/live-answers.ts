import { type DocumentNode, type ExecutionResult, GraphQLError, type GraphQLSchema } from 'graphql';
import type { LiveEvent, LiveSource } from '../../live/source.ts';
import { forEverybody } from '../../platform/runtime/request-scope.ts';
import type { StreamEnd } from '../../platform/wire/open-stream.ts';
import { type PreparedOperation, preparedOperation } from './prepared-operation.ts';
import { executeInPieces, sourceOf } from './sliced-execution.ts';

/** A validated subscription and its caller. */
export interface LiveQuestion<T = string> {
  schema: GraphQLSchema;
  document: DocumentNode;
  operationName: string | null;
  /** Coerced by `coerceVariables`. */
  variables: Record<string, unknown>;
  /** The graph's context for opening the source. */
  context: object;
  /** Creates a context for an event's answer; `onEnd` runs its argument when the answer is complete. */
  contextOf: () => { context: object; end: () => void };
  /** Subscriptions with the same key share their answers; null = not shared. */
  sharedKey: () => string | null;
  /** Serializes an event's answer; if it throws, the stream ends. */
  write: (result: ExecutionResult) => T;
}

/** An answer of a subscription to one event. */
export interface LiveMessage<T = string> {
  /** The serialized answer. */
  content: T;
  cursor: string;
}

/** A subscription in progress. */
export interface LiveAnswers<T = string> {
  source: LiveSource;
  /** The next answer; null at the end; the reason is in `source.ended`. */
  next(): Promise<LiveMessage<T> | null>;
}

/** Answers to an event by subscription, so that identical subscriptions cost as much as one. */
const answers = new WeakMap<LiveEvent, Map<string, Promise<unknown>>>();

/** A subscription whose source is open. */
interface Opened<T> extends LiveQuestion<T> {
  operation: PreparedOperation;
}

async function answer<T>({ operation, variables, contextOf, write }: Opened<T>, event: LiveEvent): Promise<T> {
  const { context, end } = contextOf();
  try {
    const { data, errors } = await executeInPieces(operation, context, variables, { rootValue: event });
    return write({ ...(errors.length > 0 && { errors }), data });
  } finally {
    end();
  }
}

function sharedAnswer<T>(question: Opened<T>, event: LiveEvent): Promise<T> {
  const key = question.sharedKey();
  if (key === null) return answer(question, event);
  let known = answers.get(event);
  if (!known) {
    known = new Map();
    answers.set(event, known);
  }
  let made = known.get(key);
  if (!made) {
    made = forEverybody(() => answer(question, event));
    known.set(key, made);
  }
  return made as Promise<T>;
}

/** Begins a subscription; returns its errors if it is rejected. */
export async function openAnswers<T>(
  asked: LiveQuestion<T>,
): Promise<LiveAnswers<T> | { errors: readonly GraphQLError[] }> {
  const { schema, document, operationName, variables: variableValues, context: contextValue } = asked;
  const question = { ...asked, operation: preparedOperation(schema, document, operationName) };
  let source: LiveSource;
  try {
    const values = { rootValue: undefined, contextValue, variableValues };
    source = await sourceOf<LiveSource>(question.operation, values, (begun) => begun.return());
  } catch (error) {
    if (error instanceof GraphQLError) return { errors: [error] };
    throw error;
  }
  return {
    source,
    async next() {
      const { done, value } = await source.next();
      if (done) return null;
      const content = await (source.isShared ? sharedAnswer(question, value) : answer(question, value));
      return { content, cursor: value.cursor };
    },
  };
}

/** The last error of a stream that the server ended, as REST and GraphQL send it. */
export function endError({ reason, failure }: StreamEnd): { message: string; extensions: Record<string, unknown> } {
  return {
    message: failure.message,
    extensions: { code: failure.code, reason, ...(failure.details && { details: failure.details }) },
  };
}
