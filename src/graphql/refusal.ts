import { GraphQLError } from 'graphql';
import { Failure } from '../domain/failure.ts';

/** A failure that ends the whole request, with its status and headers. */
export function refusal(failure: Failure): GraphQLError {
  return new GraphQLError(failure.message, {
    originalError: failure,
    extensions: { code: failure.code, http: { status: failure.status, headers: failure.headers } },
  });
}

/** Whether an error is one of `refusal`, ready to be sent. */
export function isRefusal(error: unknown): error is GraphQLError {
  return (
    error instanceof GraphQLError && error.originalError instanceof Failure && error.extensions?.http !== undefined
  );
}
