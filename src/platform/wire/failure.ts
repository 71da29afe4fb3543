import { ContentTooLarge, GivenError, InvalidValue } from '../runtime/invalid-value.ts';
import { clipped } from './printed-value.ts';

/**
 * The catalogue of failures for callers (spec 7, contract-notes 1). A `Failure` is thrown where the condition is found
 * and carries what both endpoints send: REST as status and `{error: {code, message, details?}}`, GraphQL as
 * `extensions.code`. `cause` is for the log; it is never sent.
 */
export type FailureCode =
  | 'invalid_params'
  | 'unauthenticated'
  | 'token_expired'
  | 'not_entitled_tier'
  | 'attestation_required'
  | 'not_found'
  | 'untrusted_document'
  | 'rate_limited'
  | 'provider_unavailable'
  | 'internal';

export interface FailureOptions {
  /** Machine-readable details that are safe to send, e.g. `{parameter: 'from'}`. */
  details?: Record<string, unknown>;
  /** Response headers of the failure, e.g. `Retry-After`. */
  headers?: Record<string, string>;
  /** The underlying error; logged, never sent. */
  cause?: unknown;
}

/** Maximum number of characters of a message, which may repeat sent values. */
const mostCharacters = 1000;
/** The same for a parameter's name. */
const mostNameCharacters = 100;

/** A failure with everything that is sent to the caller. */
export class Failure extends GivenError {
  /** `client_gone` is for metrics and traces; it is never sent. */
  readonly code: FailureCode | 'client_gone';
  readonly status: number;
  readonly details: Record<string, unknown> | undefined;
  readonly headers: Record<string, string>;

  constructor(status: number, code: Failure['code'], message: string, options: FailureOptions = {}) {
    // An answer to a client is no defect.
    const cause = options.cause === undefined ? undefined : { cause: options.cause };
    super(clipped(message, mostCharacters), cause, status >= 500);
    this.name = 'Failure';
    this.status = status;
    this.code = code;
    this.details = options.details;
    this.headers = options.headers ?? {};
  }
}

/** The failure that an error is, or that a client is sent for what it has given; null for any other error. */
export function knownFailure(error: unknown): Failure | null {
  if (error instanceof Failure) return error;
  if (error instanceof InvalidValue) return invalidParameter(error.value, error.expected);
  if (error instanceof ContentTooLarge) return bodyTooLarge(error.limit);
  return null;
}

/**
 * The failure at the root of an error that wraps others as its `originalError`, as GraphQL's do; null if there is none.
 */
export function failureWithin(error: unknown): Failure | null {
  for (let cause = error; cause instanceof Error; cause = (cause as { originalError?: unknown }).originalError) {
    const failure = knownFailure(cause);
    if (failure) return failure;
  }
  return null;
}

/** 400: `name` is the invalid parameter, `expected` says what was expected. */
export function invalidParameter(name: string, expected: string): Failure {
  const parameter = clipped(name, mostNameCharacters);
  return new Failure(400, 'invalid_params', `${parameter}: ${expected}`, { details: { parameter } });
}

/** A 400 about the parameter `from`, renamed to `to`, the name that the client used; any other failure unchanged. */
export function renamedParameter(failure: Failure, from: string, to: string): Failure {
  if (failure.details?.parameter !== from) return failure;
  return invalidParameter(to, failure.message.slice(`${from}: `.length));
}

/** Maximum number of symbols in a message; its details list all. */
const mostNamedSymbols = 10;

/** 400: these symbols of the parameter `symbols` are invalid; `why` follows their names in the message. */
export function invalidSymbols(symbols: readonly string[], why: string): Failure {
  const named = symbols.slice(0, mostNamedSymbols).join(', ');
  const more = symbols.length > mostNamedSymbols ? ` and ${symbols.length - mostNamedSymbols} more` : '';
  return new Failure(400, 'invalid_params', `symbols: ${named}${more} ${why}`, {
    details: { parameter: 'symbols', symbols },
  });
}

/** 400: a document, or its answer, exceeds a limit; the details name it. */
export function limitExceeded(message: string, details: Record<string, unknown>): Failure {
  return new Failure(400, 'invalid_params', message, { details });
}

/** 400: the request is not a WebSocket handshake that the server supports. */
export function invalidHandshake(message: string): Failure {
  return new Failure(400, 'invalid_params', message, { headers: { 'Sec-WebSocket-Version': '13' } });
}

/** 400 for a request that is invalid as a whole, not in one parameter. */
export function invalidRequest(message: string): Failure {
  return new Failure(400, 'invalid_params', message);
}

/** 400: the journal has no room for the rows to add. */
export function journalFull(limit: number, rows: number, added: number): Failure {
  const message = `The journal quota is ${limit} rows (trades, accounts and imports). The journal has ${rows}; the request adds ${added}. Delete trades, or send fewer.`;
  return new Failure(400, 'invalid_params', message, { details: { quota: 'journal', limit, rows, added } });
}

/** 400: the account has as many saved screens as it may. */
export function screensFull(limit: number): Failure {
  const message = `The quota of saved screens is ${limit}. Delete one, or replace one under its id.`;
  return new Failure(400, 'invalid_params', message, { details: { quota: 'screens', limit } });
}

/** 401: no credential. */
export function unauthenticated(
  message = 'Send an API key or a session token: Authorization: Bearer <credential>.',
): Failure {
  return new Failure(401, 'unauthenticated', message, { headers: { 'WWW-Authenticate': 'Bearer' } });
}

/** 401: the credential is malformed, unknown, or no longer valid. */
function invalidCredential(): Failure {
  return new Failure(401, 'unauthenticated', 'The API key or session token is not valid.', {
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
  });
}

/** 401: the key or token was valid and has expired. */
function tokenExpired(): Failure {
  return new Failure(401, 'token_expired', 'The credential has expired.', {
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
  });
}

/**
 * The 401 for a credential that is missing, invalid, or expired; if `listsExpired` is false an expired one is invalid.
 */
export function notAuthenticated(state: 'missing' | 'invalid' | 'expired', listsExpired = true): Failure {
  if (state === 'missing') return unauthenticated();
  return state === 'expired' && listsExpired ? tokenExpired() : invalidCredential();
}

/** 401 on the streaming channel: the client must send its ticket. */
export function ticketRequired(message: string): Failure {
  return new Failure(401, 'unauthenticated', message);
}

/** 401 on the streaming channel: the ticket is invalid. */
export function invalidTicket(): Failure {
  return new Failure(401, 'unauthenticated', 'The ticket is not valid: it is unknown, used or expired.');
}

/** 403: the caller's tier is below the one that `what` requires. */
export function notEntitledTier(what: string, requiredTier: string): Failure {
  return new Failure(403, 'not_entitled_tier', `${what} needs the ${requiredTier} tier.`, {
    details: { required_tier: requiredTier },
  });
}

/** 403: a non-professional market-data declaration is missing. */
export function attestationRequired(what: string): Failure {
  return new Failure(
    403,
    'attestation_required',
    `${what} needs a non-professional market-data declaration: POST /v2/account/classification.`,
  );
}

/** 403 for operations that require a site session (keys are managed by people, not by keys). */
export function siteSessionRequired(what: string): Failure {
  return new Failure(403, 'not_entitled_tier', `${what} needs a site session; an API key cannot do it.`);
}

/** 404: `what` does not exist, or is not registered. */
export function notFound(what: string): Failure {
  return new Failure(404, 'not_found', `${what} was not found.`);
}

/** 403: the gateway runs listed documents alone, and this one is not listed. */
export function untrustedDocument(): Failure {
  const message = 'This gateway answers trusted documents alone. Send the documentId of one, or its exact text.';
  return new Failure(403, 'untrusted_document', message);
}

/** 405: the path exists; `allow` lists its methods. */
export function methodNotAllowed(method: string, allow: readonly string[]): Failure {
  return new Failure(405, 'invalid_params', `${method} is not supported here; use ${allow.join(' or ')}.`, {
    headers: { Allow: allow.join(', ') },
  });
}

/** 410: the route is removed; `successor` replaces it. */
export function gone(successor: string): Failure {
  return new Failure(410, 'not_found', `This route is no longer served; use ${successor}.`);
}

/** 408: the body was sent too slowly. */
export function bodyTooSlow(): Failure {
  return new Failure(408, 'invalid_params', 'The request body was sent too slowly.', {
    headers: { Connection: 'close' },
  });
}

/** 413: the body, or its content, exceeds the limit. */
export function bodyTooLarge(limit: string): Failure {
  return new Failure(413, 'invalid_params', `The body is too large: at most ${limit}.`);
}

/** 415: the route does not read the body's content type. */
export function unsupportedMediaType(expected: string): Failure {
  return new Failure(415, 'invalid_params', `Content-Type: expected ${expected}.`);
}

/** 415: the body is text in another character set than UTF-8. */
export function unsupportedCharset(): Failure {
  return new Failure(415, 'invalid_params', 'Content-Type: expected charset=utf-8.');
}

/** 415: the body is compressed. */
export function unsupportedEncoding(): Failure {
  return new Failure(415, 'invalid_params', 'Content-Encoding: expected none; compressed bodies are not supported.', {
    headers: { 'Accept-Encoding': 'identity' },
  });
}

/** 414: the path and query are too long. */
export function addressTooLong(maxBytes: number): Failure {
  return new Failure(414, 'invalid_params', `The URL is too long: at most ${maxBytes} bytes.`);
}

/**
 * 400: the request names no host, or several (RFC 9112, 3.2). The connection closes, because its target is ambiguous.
 */
export function notOneHost(): Failure {
  return new Failure(400, 'invalid_params', 'Host: expected exactly one Host header.', {
    headers: { Connection: 'close' },
  });
}

/** 417: the client expects something other than `100 Continue`. */
export function unknownExpectation(): Failure {
  return new Failure(417, 'invalid_params', 'Expect: expected 100-continue.', { headers: { Connection: 'close' } });
}

/** 426: the path accepts only WebSocket handshakes. */
export function webSocketRequired(): Failure {
  return new Failure(426, 'invalid_params', 'Send a WebSocket handshake: Connection: Upgrade, Upgrade: websocket.', {
    headers: { Upgrade: 'websocket', Connection: 'Upgrade' },
  });
}

/** Time of the retry: as a header, and in the details for answers without headers of their own. */
function retryAfter(seconds: number): FailureOptions {
  return { headers: { 'Retry-After': String(seconds) }, details: { retry_after_seconds: seconds } };
}

/** 429: over a rate or in-flight limit; the caller may retry after this many seconds. */
export function rateLimited(message: string, retryAfterSeconds: number): Failure {
  return new Failure(429, 'rate_limited', message, retryAfter(retryAfterSeconds));
}

/** The client disconnected before its answer. Never sent; proxies log it as 499. */
export function clientGone(): Failure {
  return new Failure(499, 'client_gone', 'The client has closed the connection.');
}

/** 502: the source of `dataset` failed. */
export function sourceFailed(dataset: string, cause: unknown): Failure {
  return new Failure(502, 'internal', `The ${dataset} source failed.`, { cause });
}

/** 503: no source of `dataset` is configured on this server. */
export function sourceNotConfigured(dataset: string): Failure {
  return new Failure(503, 'internal', `No ${dataset} source is configured.`);
}

/** 503: the option-bar provider is configured but not reachable. */
export function providerUnavailable(cause: unknown): Failure {
  return new Failure(503, 'provider_unavailable', 'The option-bar provider is unavailable.', { cause });
}

/** 503: the server has no capacity for the request now. */
export function overloaded(message: string, retryAfterSeconds: number): Failure {
  return new Failure(503, 'internal', message, retryAfter(retryAfterSeconds));
}

/** 503: the server is shutting down; another, or the same after its restart, answers. */
export function shuttingDown(): Failure {
  return new Failure(503, 'internal', 'The server is shutting down; reconnect.');
}

/** The failure behind an error that the graph sent: 500 for an internal one, 400 for the others. */
export function sentFailure({ code, message, details }: Pick<Failure, 'code' | 'message' | 'details'>): Failure {
  return new Failure(code === 'internal' ? 500 : 400, code, message, details ? { details } : {});
}

/** 500: an internal error. The cause is not sent. */
export function internal(cause: unknown): Failure {
  return new Failure(500, 'internal', 'Something went wrong on our side.', { cause });
}
