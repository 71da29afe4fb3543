import { GraphQLError, type GraphQLErrorOptions } from 'graphql';
import { type Failure, failureWithin, internal } from '../wire/failure.ts';
import { clipped } from '../wire/printed-value.ts';

/**
 * True if an error is GraphQL's own (syntax, validation, a bad variable): then nothing but such errors lies below it.
 */
function isGraphqlsOwn(error: unknown): error is GraphQLError {
  return error instanceof GraphQLError && (error.originalError == null || isGraphqlsOwn(error.originalError));
}

/** Locations of an error: rules that compare fields name every field they compared. */
const mostLocations = 10;
/** Characters of a message, which may repeat names and values of the document. */
const mostCharacters = 1000;

/** Where in the document and the answer an error belongs. */
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
 * The status of an answer that has no data: GraphQL over HTTP asks for it unless the answer is sent as
 * `application/json`.
 */
const statusWithoutData = (status: number) => ({ http: { status, spec: true } });

/**
 * The sent form of an error: `extensions.code` equals REST's `error.code`; nothing of an unexpected cause leaks.
 * `hasData`: the answer has data beside its errors.
 */
export function publicError(error: unknown, report: (failure: Failure) => void, hasData = true): GraphQLError {
  const thrown = failureWithin(error);
  if (!thrown && isGraphqlsOwn(error)) {
    // For a body that is no JSON Yoga adds what the parser threw, which repeats the body, and takes it as the sign for
    // 400 with every Accept. It is not sent, so the status is given here.
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
