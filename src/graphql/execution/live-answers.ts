import {
  createSourceEventStream,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLError,
  type GraphQLSchema,
} from 'graphql';
import type { LiveEvent, LiveSource } from '../../live/source.ts';
import { forEverybody } from '../../runtime/request-scope.ts';
import type { StreamEnd } from '../../wire/open-stream.ts';
import { takingReadVariables } from './compiled-operation.ts';

/** A subscription that was validated. */
export interface Subscription {
  schema: GraphQLSchema;
  document: DocumentNode;
  operationName: string | null;
  /** As `coerceVariables` read them. */
  variables: Record<string, unknown>;
}

/** A subscription, and who asks it. */
export interface LiveQuestion<T = string> extends Subscription {
  /** The graph's context for finding what is followed. */
  context: object;
  /** A fresh context for an event's answer; `onEnd` runs its argument when that is made. */
  contextOf: () => { context: object; end: () => void };
  /** Executes the subscription on an event, as values. */
  execute: (subscription: Subscription, event: LiveEvent, context: object) => Promise<ExecutionResult>;
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

async function answer<T>(question: LiveQuestion<T>, event: LiveEvent): Promise<T> {
  const { context, end } = question.contextOf();
  try {
    return question.write(await question.execute(question, event, context), symbolOf(event));
  } finally {
    end();
  }
}

function sharedAnswer<T>(question: LiveQuestion<T>, event: LiveEvent): Promise<T> {
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
  const question = { ...asked, ...takingReadVariables(asked) };
  const found: AsyncIterable<unknown> | ExecutionResult = await createSourceEventStream({
    schema: question.schema,
    document: question.document,
    operationName: question.operationName,
    variableValues: question.variables,
    contextValue: question.context,
  });
  if (!(Symbol.asyncIterator in found)) return { errors: found.errors! };
  const source = found as LiveSource;
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
