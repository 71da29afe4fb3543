import type { ErrorCode } from './generated/types.ts';

/** Any error of this package. */
export class TapegraphError extends Error {
  override name = 'TapegraphError';
}

/** The gateway did not answer. */
export class Unreachable extends TapegraphError {
  override name = 'Unreachable';
}

/** A list has more pages or rows than the default bounds, or its cursor repeats. */
export class TooManyPages extends TapegraphError {
  override name = 'TooManyPages';
}

/** Details of an error. */
export interface ApiErrorDetails {
  /** Status of the answer. */
  status: number;
  /** Machine-readable details, such as `parameter` or `required_tier`. */
  details?: Record<string, unknown> | undefined;
  /** Id of the request, for the operator of the gateway. */
  requestId?: string | null;
  /** Seconds after which to retry; null = not given. */
  retryAfter?: number | null;
  /** The part of a graph's answer that stands beside the error. */
  data?: unknown;
}

/** An error of the gateway. Branch on `code`; the message is for people. */
export class ApiError extends TapegraphError {
  override name = 'ApiError';
  /** A code of the contract; `http_STATUS` for an answer that is not the gateway's, such as a proxy's page. */
  readonly code: ErrorCode | (string & {});
  readonly status: number;
  readonly details: Record<string, unknown>;
  readonly requestId: string | null;
  readonly retryAfter: number | null;
  readonly data: unknown;

  constructor(code: string, message: string, { status, details, requestId, retryAfter, data }: ApiErrorDetails) {
    super(message);
    this.code = code;
    this.status = status;
    this.details = details ?? {};
    this.requestId = requestId ?? null;
    this.retryAfter = retryAfter ?? null;
    this.data = data;
  }
}

/** An error of the graph, as it is sent. */
export interface GraphError {
  message: string;
  path?: readonly (string | number)[];
  extensions?: { code?: string; reason?: string; [key: string]: unknown };
}

/** The first of the graph's errors. */
export function graphError(
  errors: readonly GraphError[],
  status: number,
  rest: Partial<ApiErrorDetails> = {},
): ApiError {
  const { message, extensions: { code = 'internal', ...details } = {}, path } = errors[0]!;
  return new ApiError(code, message, { status, details: { ...details, path, errors }, ...rest });
}
