import { GraphQLError } from 'graphql';
import { Failure } from '../domain/failure.ts';

/** A failure that ends the whole request, with its status and headers. */
export function refusal(failure: Failure): GraphQLError {
  return new GraphQLError(failure.message, {
    originalError: failure,
    extensions: {
      code: failure.code,
      ...(failure.details ? { details: failure.details } : {}),
      http: { status: failure.status, headers: failure.headers },
    },
  });
}

/** Whether an error is one of `refusal`, ready to be sent. */
export function isRefusal(error: unknown): error is GraphQLError {
  return (
    error instanceof GraphQLError && error.originalError instanceof Failure && error.extensions?.http !== undefined
  );
}

/** The refusal that an error is, or that it was wrapped around on its way, as it was made: Yoga writes into errors. Null when there is none. */
export function refusalWithin(error: unknown): GraphQLError | null {
  for (let cause = error; cause instanceof Error; cause = (cause as { originalError?: unknown }).originalError)
    if (isRefusal(cause)) return refusal(cause.originalError as Failure);
  return null;
}
