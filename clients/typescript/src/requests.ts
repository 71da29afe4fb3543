import { ApiError, type GraphError, graphError, Unreachable } from './errors.ts';

/** An instant: epoch ms, `YYYY-MM-DD[THH:MM[:SS]]` in the request's `tz`, or a Date. */
export type Instant = string | number | Date;
/** One text, or several. */
export type Texts = string | readonly string[];

/** Longest wait between two attempts, seconds. An error that asks for more is thrown at once. */
export const longestWait = 30;
/** Statuses after which a request that only reads is sent again. */
export const retried: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** The caller's minute, as of an answer. */
export interface Rate {
  /** Requests per minute. */
  limit: number;
  /** Requests left in this minute. */
  remaining: number;
  /** Seconds until the minute ends. */
  reset: number;
}

/** The rate in the headers of an answer; null if they have none. */
export function rateOf({ headers }: Response): Rate | null {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) => headers.get(`x-ratelimit-${name}`));
  return limit == null ? null : { limit: Number(limit), remaining: Number(remaining), reset: Number(reset) };
}

/** A value as a parameter. */
export function textOf(value: unknown): string {
  if (value instanceof Date) return String(value.getTime());
  if (Array.isArray(value)) return value.map(textOf).join(',');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** The query of these parameters; those that are null or undefined are not sent. */
export function queryOf(params: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(params).filter(([, value]) => value != null);
  return given.length === 0 ? '' : `?${new URLSearchParams(given.map(([name, value]) => [name, textOf(value)]))}`;
}

/** Seconds after which to retry; null = not given. */
export function retryAfterOf({ headers }: Response): number | null {
  const text = headers.get('Retry-After') ?? '';
  return /^\d+$/.test(text) ? Number(text) : null;
}

/** The body of a failure, of a route or of the graph. */
interface FailureBody {
  error?: { code: string; message: string; details?: Record<string, unknown> };
  errors?: GraphError[];
}

/** The error in an answer. */
export async function failureOf(response: Response): Promise<ApiError> {
  const { status } = response;
  const rest = { requestId: response.headers.get('x-request-id'), retryAfter: retryAfterOf(response) };
  const text = await response.text();
  try {
    const { error, errors } = JSON.parse(text) as FailureBody;
    if (errors) return graphError(errors, status, rest);
    return new ApiError(error!.code, error!.message, { status, details: error!.details, ...rest });
  } catch {
    return new ApiError(`http_${status}`, text.slice(0, 200), { status, ...rest });
  }
}

/** Resolves after some seconds. Rejects when `signal` is aborted. */
export function wait(seconds: number, signal?: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      reject(signal!.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, seconds * 1000);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** Sends requests to a gateway. */
export interface Sender {
  url: string;
  fetch: typeof fetch;
  headers: () => Promise<Record<string, string>>;
  /** Number of times that a request that only reads is sent again. */
  retries: number;
  timeoutMs: number;
}

/** Options of a request. */
export interface CallOptions {
  /** Ends the request when it is aborted. */
  signal?: AbortSignal;
}

/** Sends a request; again if it only reads and the answer says to come back. Throws the error of the last answer. */
export async function send(
  { url, fetch, headers, retries, timeoutMs }: Sender,
  path: string,
  init: RequestInit & { isRead: boolean },
): Promise<Response> {
  const { isRead, signal, ...rest } = init;
  for (let attempt = 0; ; attempt++) {
    const isLast = !isRead || attempt >= retries;
    let seconds = 0.5 * 2 ** attempt;
    const within = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]);
    const sent = { ...rest, headers: { ...(await headers()), ...rest.headers }, signal: within };
    try {
      // A redirect is a failure: the key goes nowhere else.
      const response = await fetch(url + path, { redirect: 'manual', ...sent });
      if (response.ok) return response;
      seconds = retryAfterOf(response) ?? seconds;
      if (isLast || !retried.has(response.status) || seconds > longestWait) throw await failureOf(response);
      await response.body?.cancel();
    } catch (cause) {
      signal?.throwIfAborted();
      if (cause instanceof ApiError) throw cause;
      if (isLast) throw new Unreachable(`${rest.method} ${path}: ${cause}`, { cause });
    }
    await wait(seconds, signal);
  }
}
