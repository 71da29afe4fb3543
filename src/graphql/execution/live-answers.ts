import { type DocumentNode, type ExecutionResult, GraphQLError, type GraphQLSchema } from 'graphql';
import type { LiveEvent, LiveSource } from '../../live/source.ts';
import { forEverybody } from '../../runtime/request-scope.ts';
import type { StreamEnd } from '../../wire/open-stream.ts';
import { type PreparedOperation, preparedOperation } from './prepared-operation.ts';
import { executeInPieces, sourceOf } from './sliced-execution.ts';

/** A validated subscription, and who asks it. */
export interface LiveQuestion<T = string> {
  schema: GraphQLSchema;
  document: DocumentNode;
  operationName: string | null;
  /** As `coerceVariables` read them. */
  variables: Record<string, unknown>;
  /** The graph's context for finding what is followed. */
  context: object;
  /** A fresh context for an event's answer; `onEnd` runs its argument when that is made. */
  contextOf: () => { context: object; end: () => void };
  /** Subscriptions with the same key get the same answers; null = not shared. */
  sharedKey: () => string | null;
  /** An event's answer as it is sent, of a symbol or any (null); one that throws ends the stream. */
  write: (result: ExecutionResult, symbol: string | null) => T;
}

/** Message of a subscription on one event. */
export interface LiveMessage<T = string> {
  /** The answer as it was written. */
  content: T;
  cursor: string;
}

/** A subscription in progress. */
export interface LiveAnswers<T = string> {
  source: LiveSource;
  /** The next answer; null at the end; the reason is in `source.ended`. */
  next(): Promise<LiveMessage<T> | null>;
}

/** Answers to an event by question, so that many who ask alike cost what one does. */
const answers = new WeakMap<LiveEvent, Map<string, Promise<unknown>>>();

function symbolOf({ value }: LiveEvent): string | null {
  const { symbol, underlying = symbol } = value as { symbol?: string; underlying?: string };
  return underlying ?? null;
}

/** A subscription whose source is open. */
interface Opened<T> extends LiveQuestion<T> {
  operation: PreparedOperation;
}

async function answer<T>({ operation, variables, contextOf, write }: Opened<T>, event: LiveEvent): Promise<T> {
  const { context, end } = contextOf();
  try {
    const { data, errors } = await executeInPieces(operation, context, variables, event);
    return write({ ...(errors.length > 0 && { errors }), data }, symbolOf(event));
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
    source = (await sourceOf(question.operation, { rootValue: undefined, contextValue, variableValues })) as LiveSource;
  } catch (error) {
    if (error instanceof GraphQLError) return { errors: [error] };
    throw error;
  }
  return {
    source,
    async next() {
      const { done, value } = await source.next();
      return done ? null : { content: await sharedAnswer(question, value), cursor: value.cursor };
    },
  };
}

/** The last error of a stream that was ended from this side, as REST and GraphQL send it. */
export function endError({ reason, failure }: StreamEnd): { message: string; extensions: Record<string, unknown> } {
  return {
    message: failure.message,
    extensions: { code: failure.code, reason, ...(failure.details && { details: failure.details }) },
  };
}
