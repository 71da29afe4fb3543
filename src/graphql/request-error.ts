import { GraphQLError } from 'graphql';
import { Failure } from '../domain/failure.ts';

/** An error that ends the whole request, with the status and headers of the failure. */
export function requestErrorOf(failure: Failure): GraphQLError {
  return new GraphQLError(failure.message, {
    originalError: failure,
    extensions: {
      code: failure.code,
      ...(failure.details ? { details: failure.details } : {}),
      http: { status: failure.status, headers: failure.headers },
    },
  });
}

/** True for an error made by `requestErrorOf`, which can be sent as it is. */
export function isRequestError(error: unknown): error is GraphQLError {
  return (
    error instanceof GraphQLError && error.originalError instanceof Failure && error.extensions?.http !== undefined
  );
}

/** The request error that an error is or wraps, built again because Yoga writes into errors. Null if there is none. */
export function requestErrorWithin(error: unknown): GraphQLError | null {
  for (let cause = error; cause instanceof Error; cause = (cause as { originalError?: unknown }).originalError)
    if (isRequestError(cause)) return requestErrorOf(cause.originalError as Failure);
  return null;
}
