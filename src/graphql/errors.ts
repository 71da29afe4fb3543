import { GraphQLError, type GraphQLErrorOptions } from 'graphql';
import { type Failure, failureWithin, internal } from '../domain/failure.ts';

/** Whether an error is GraphQL's own (syntax, validation, a bad variable): then nothing but such errors lies below it. */
function isGraphqlsOwn(error: unknown): error is GraphQLError {
  return error instanceof GraphQLError && (error.originalError == null || isGraphqlsOwn(error.originalError));
}

/** Where in the document and the answer an error belongs. */
function place(error: unknown): Pick<GraphQLErrorOptions, 'nodes' | 'source' | 'positions' | 'path'> {
  if (!(error instanceof GraphQLError)) return {};
  return {
    nodes: error.nodes ?? null,
    source: error.source ?? null,
    positions: error.positions ?? null,
    path: error.path ?? null,
  };
}

/** What a client is told of an error: `extensions.code` equals REST's `error.code`; nothing of an unexpected cause leaks. */
export function publicError(error: unknown, report: (failure: Failure) => void): GraphQLError {
  const thrown = failureWithin(error);
  if (!thrown && isGraphqlsOwn(error)) {
    return new GraphQLError(error.message, {
      ...place(error),
      extensions: { ...error.extensions, code: 'invalid_params' },
    });
  }
  const failure = thrown ?? internal(error);
  if (failure.status >= 500) report(failure);
  return new GraphQLError(failure.message, {
    ...place(error),
    extensions: { code: failure.code, ...(failure.details ? { details: failure.details } : {}) },
  });
}
