import { GraphQLError } from 'graphql';
import { Failure, invalidRequest } from '../platform/wire/failure.ts';

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

/** An error in the form that is sent if an operation's answer has no status and headers of its own. */
export function withoutStatus(error: GraphQLError): GraphQLError {
  const { http: _, ...extensions } = error.extensions;
  const { message, nodes = null, source = null, positions = null, path = null } = error;
  return new GraphQLError(message, { nodes, source, positions, path, extensions });
}

/** True for parameters with the hash of a query (automatic persisted queries) and no query. */
function isHashAlone({ query, extensions }: { query?: unknown; extensions?: unknown }): boolean {
  const hash = (extensions as { persistedQuery?: unknown } | null | undefined)?.persistedQuery;
  return hash != null && (query === undefined || query === null || query === '');
}

/** Parameters of a request by the hash of a document, as Apollo's clients send the ids of their manifests. */
interface HashedParams {
  query?: unknown;
  extensions?: unknown;
}

/**
 * Parameters with the text of the document whose hash they hold alone; others unchanged. Throws 400, for a hash that is
 * unknown, with the message by which clients with automatic persisted queries send the whole query next.
 */
export function withQuery<T extends HashedParams>(params: T, find: (id: string) => string | null): T {
  if (!isHashAlone(params)) return params;
  const { persistedQuery } = params.extensions as { persistedQuery: { sha256Hash?: unknown } };
  const { sha256Hash: hash } = Object(persistedQuery) as { sha256Hash?: unknown };
  const query = typeof hash === 'string' ? find(hash) : null;
  if (query === null) throw requestErrorOf(invalidRequest('PersistedQueryNotSupported'));
  const { extensions: _, ...others } = params;
  return { ...others, query } as T;
}

/** Parameters without an empty `operationName`, which some clients send for none. */
export function namedOperation<T extends { operationName?: string | null | undefined }>(params: T): T {
  if (params.operationName !== '') return params;
  const { operationName: _, ...others } = params;
  return others as T;
}

/** True for an error made by `requestErrorOf`, which can be sent as it is. */
export function isRequestError(error: unknown): error is GraphQLError {
  return (
    error instanceof GraphQLError && error.originalError instanceof Failure && error.extensions?.http !== undefined
  );
}

/** The request error that an error is or wraps, built again because Yoga modifies errors. Null if there is none. */
export function requestErrorWithin(error: unknown): GraphQLError | null {
  for (let cause = error; cause instanceof Error; cause = (cause as { originalError?: unknown }).originalError)
    if (isRequestError(cause)) return requestErrorOf(cause.originalError as Failure);
  return null;
}
