// Sends queries to the graph over HTTP.

/** The text of an operation. The types of its answer and variables exist only for the compiler. */
export type Operation<Data, Variables> = string & { readonly typed?: (variables: Variables) => Data };

/** An error of the graph at a field: the field is null and the rest of the answer is valid. */
export interface FieldError {
  message: string;
  path: readonly (string | number)[];
  /** One of the contract's codes, e.g. not_entitled_tier. */
  code: string;
  /** The required tier; null if the tier is not the reason. */
  requiredTier: string | null;
}

/**
 * Reason for which a query has no answer at all: no key, an invalid or expired key, too many requests, a rejected
 * query, a failure of the server, a server that cannot be reached, or a timeout.
 */
export type FailureKind = 'no-key' | 'bad-key' | 'expired-key' | 'rate' | 'refused' | 'server' | 'away' | 'slow';

/** Thrown for a query without an answer. */
export class GraphFailure extends Error {
  readonly kind: FailureKind;
  /** Seconds until a retry; null = not given by the server. */
  readonly retryAfterSeconds: number | null;

  constructor(kind: FailureKind, message: string, retryAfterSeconds: number | null = null) {
    super(message);
    this.kind = kind;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** An answer: data, and errors at the fields that failed. */
export interface Asked<Data> {
  data: Data;
  errors: FieldError[];
}

interface WireError {
  message: string;
  path?: (string | number)[];
  extensions?: { code?: string; details?: { required_tier?: string } };
}

/** Sends an operation; `fetch` is the browser's. */
export type Ask = <Data, Variables>(
  query: Operation<Data, Variables>,
  variables: Variables,
  signal?: AbortSignal,
) => Promise<Asked<Data>>;

const kindOfCode: Record<string, FailureKind> = {
  unauthenticated: 'bad-key',
  token_expired: 'expired-key',
  rate_limited: 'rate',
  invalid_params: 'refused',
  not_found: 'refused',
};

/** Converts an error of the answer to the page's form. */
export function fieldError({ message, path = [], extensions = {} }: WireError): FieldError {
  return {
    message,
    path,
    code: extensions.code ?? 'internal',
    requiredTier: extensions.details?.required_tier ?? null,
  };
}

function failureOf(status: number, errors: readonly WireError[] | undefined, retryAfter: string | null): GraphFailure {
  const first = errors?.[0];
  const kind = kindOfCode[first?.extensions?.code ?? ''] ?? (status === 429 ? 'rate' : 'server');
  const seconds = Number(retryAfter);
  return new GraphFailure(
    kind,
    first?.message ?? `The server answered with status ${status}.`,
    retryAfter !== null && Number.isFinite(seconds) ? seconds : null,
  );
}

/** Longest wait for an answer, ms. */
const answerWithinMs = 20_000;

/**
 * Creates the function that queries `url` with the current key. Throws `GraphFailure`; an aborted query throws as
 * `fetch` does.
 */
export function graphAt(url: string, key: () => string, fetch: typeof globalThis.fetch): Ask {
  return async <Data, Variables>(query: Operation<Data, Variables>, variables: Variables, signal?: AbortSignal) => {
    const credential = key();
    if (credential === '') throw new GraphFailure('no-key', 'An API key is needed.');
    const late = AbortSignal.timeout(answerWithinMs);
    let response: Response;
    let body: { data?: Data | null; errors?: WireError[] };
    try {
      response = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          authorization: `Bearer ${credential}`,
        },
        body: JSON.stringify({ query, variables }),
        credentials: 'omit',
        signal: signal ? AbortSignal.any([signal, late]) : late,
      });
      body = await response.json().catch((error) => {
        if (late.aborted) throw error;
        return {};
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      if (late.aborted) throw new GraphFailure('slow', `There was no answer within ${answerWithinMs / 1000} seconds.`);
      throw new GraphFailure('away', 'There is no connection to it.');
    }
    if (body.data == null) throw failureOf(response.status, body.errors, response.headers.get('retry-after'));
    return { data: body.data, errors: (body.errors ?? []).map(fieldError) };
  };
}
