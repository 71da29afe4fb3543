import { GraphQLError, type GraphQLErrorOptions } from 'graphql';
import { type Failure, failureWithin, internal } from '../platform/wire/failure.ts';
import { clipped } from '../platform/wire/printed-value.ts';

/**
 * True if an error is GraphQL's own (syntax, validation, an invalid variable). Its causes are then GraphQL's own too.
 */
function isGraphqlsOwn(error: unknown): error is GraphQLError {
  return error instanceof GraphQLError && (error.originalError == null || isGraphqlsOwn(error.originalError));
}

/** Maximum number of locations of an error: rules that compare fields list every field that they compared. */
const mostLocations = 10;
/** Maximum number of characters of a message, which may repeat names and values of the document. */
const mostCharacters = 1000;

/** Location of an error in the document and the answer. */
function sourceOf(error: unknown): Pick<GraphQLErrorOptions, 'nodes' | 'source' | 'positions' | 'path'> {
  if (!(error instanceof GraphQLError)) return {};
  return {
    nodes: error.nodes?.slice(0, mostLocations) ?? null,
    source: error.source ?? null,
    positions: error.positions?.slice(0, mostLocations) ?? null,
    path: error.path ?? null,
  };
}

/**
 * The status of an answer without data: GraphQL over HTTP requires it unless the answer is sent as `application/json`.
 */
const statusWithoutData = (status: number) => ({ http: { status, spec: true } });

/**
 * The public form of an error. `extensions.code` equals REST's `error.code`; the cause of an unexpected error is not
 * sent. `hasData`: the answer has data beside its errors.
 */
export function publicError(error: unknown, report: (failure: Failure) => void, hasData = true): GraphQLError {
  const thrown = failureWithin(error);
  if (!thrown && isGraphqlsOwn(error)) {
    // For a body that is not JSON, Yoga adds the parser's error, which repeats the body, and answers 400 for every
    // Accept because of it. The parser's error is not sent, so the status is set here.
    const { originalError, ...extensions } = error.extensions;
    return new GraphQLError(clipped(error.message, mostCharacters), {
      ...sourceOf(error),
      extensions: {
        ...(hasData ? {} : statusWithoutData(400)),
        ...extensions,
        ...(originalError ? { http: { status: 400 } } : {}),
        code: 'invalid_params',
      },
    });
  }
  const failure = thrown ?? internal(error);
  if (failure.status >= 500) report(failure);
  return new GraphQLError(failure.message, {
    ...sourceOf(error),
    extensions: {
      ...(hasData ? {} : statusWithoutData(failure.status)),
      code: failure.code,
      ...(failure.details ? { details: failure.details } : {}),
    },
  });
}
