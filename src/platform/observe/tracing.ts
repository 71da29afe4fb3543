import type { IncomingMessage } from 'node:http';
import { defaultFieldResolver, type GraphQLObjectType, type GraphQLSchema } from 'graphql';
import type { RequestObserver } from './requests.ts';

/** Attributes of a span besides its name and times. */
type SpanAttributes = Record<string, string | number | boolean>;

/** Runs `work` in a span below the current one. */
type SpanOf = <T>(name: string, details: SpanAttributes, work: () => T) => T;

/**
 * Traces of requests: a span each, and within it spans of its operation, the operation's fields, and statements of the
 * database.
 */
export interface Traces {
  requests: RequestObserver;
  /** Runs `work`, and everything it starts, as part of the request. */
  within(request: IncomingMessage, work: () => void): void;
  span: SpanOf;
  /**
   * Starts a span of a database statement, whose text contains no values. Call the returned function with whether it
   * failed.
   */
  statement(text: string): (failed: boolean) => void;
  /** Exports the remaining spans. */
  close(): Promise<void>;
}

/** Used if nothing is traced. */
export const untraced: SpanOf = (_name, _facts, work) => work();

/** Records every root field of a query or a mutation as a span. Fields below are visible by their statements. */
export function traceRootFields(schema: GraphQLSchema, span: SpanOf): void {
  const roots = [schema.getQueryType(), schema.getMutationType()];
  for (const type of roots.filter((root): root is GraphQLObjectType => root != null)) {
    for (const field of Object.values(type.getFields())) {
      const resolve = field.resolve ?? defaultFieldResolver;
      field.resolve = (source, args, context, info) =>
        span(`field ${field.name}`, { 'graphql.field.name': field.name }, () => resolve(source, args, context, info));
    }
  }
}
