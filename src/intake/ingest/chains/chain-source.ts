import { gunzipSync } from 'node:zlib';

/** Source of a symbol's chain. */
export interface ChainSource {
  symbol: string;
  /** May contain a secret: never logged. */
  url: string;
}

/** Limits of one request. */
export interface SourceLimits {
  /** Timeout of the whole response, ms. */
  timeoutMs: number;
  /** Maximum size of the unpacked response, bytes. */
  maxBytes: number;
}

/** Validators of a response, for conditional requests. */
export interface AnswerTag {
  etag: string | null;
  lastModified: string | null;
}

/** Thrown if the source returned no chain. The message is safe to log and continues a sentence. */
export class SourceFailure extends Error {
  override readonly name = 'SourceFailure';
  /** True if a retry would fail too: wait for the next capture. */
  readonly lasting: boolean;
  /** Pause requested by the source, ms; null = none. */
  readonly retryAfterMs: number | null;

  constructor(
    message: string,
    { lasting = false, retryAfterMs = null as number | null, cause = undefined as unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.lasting = lasting;
    this.retryAfterMs = retryAfterMs;
  }
}

/** `Retry-After` in ms: seconds, or a date. */
function retryAfterMs(text: string | null, nowMs: number): number | null {
  if (text === null) return null;
  const ms = /^\d{1,6}$/.test(text.trim()) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}

// Statuses after which a retry may succeed; after any other of 400…499 it will not.
const passing = new Set([408, 421, 425, 429]);

function refused(response: Response, nowMs: number): SourceFailure {
  const { status, headers } = response;
  return new SourceFailure(`the source answered ${status}`, {
    lasting: status < 500 && !passing.has(status),
    retryAfterMs: retryAfterMs(headers.get('retry-after'), nowMs),
  });
}

async function bodyOf(response: Response, maxBytes: number): Promise<Buffer> {
  const tooLarge = () => new SourceFailure(`the answer is over ${maxBytes} bytes`, { lasting: true });
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    length += part.length;
    if (length > maxBytes) throw tooLarge();
    parts.push(part);
  }
  const bytes = Buffer.concat(parts);
  if (!(bytes[0] === 0x1f && bytes[1] === 0x8b)) return bytes;
  // A compressed file, not a compressed response: unpacked here.
  try {
    return gunzipSync(bytes, { maxOutputLength: maxBytes });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge();
    throw new SourceFailure('the gzip data of the answer is damaged or truncated', { cause });
  }
}

/** The innermost cause is informative; the error of fetch only says `fetch failed` or `terminated`. */
function describe(error: unknown): string {
  const { cause, message, code } = error as { cause?: unknown; message?: string; code?: string };
  if (error instanceof AggregateError && error.errors.length > 0) return describe(error.errors[0]);
  return cause instanceof Error ? describe(cause) : message || code || String(error);
}

/**
 * Requests a chain from a source. Returns its bytes, or null if it is unchanged from `known` (304). Throws
 * `SourceFailure`; when `stop` is aborted, its reason.
 */
export async function fetchChain(
  { url }: ChainSource,
  known: AnswerTag | null,
  { timeoutMs, maxBytes }: SourceLimits,
  now: () => number,
  stop: AbortSignal,
): Promise<{ bytes: Buffer; tag: AnswerTag } | null> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const headers: Record<string, string> = { accept: 'application/json', 'user-agent': 'tapegraph' };
  if (known?.etag) headers['if-none-match'] = known.etag;
  else if (known?.lastModified) headers['if-modified-since'] = known.lastModified;
  let response: Response | null = null;
  try {
    response = await fetch(url, { headers, signal: AbortSignal.any([stop, timeout]) });
    if (response.status === 304) return null;
    if (response.status !== 200) throw refused(response, now());
    const tag = { etag: response.headers.get('etag'), lastModified: response.headers.get('last-modified') };
    return { bytes: await bodyOf(response, maxBytes), tag };
  } catch (error) {
    stop.throwIfAborted();
    if (error instanceof SourceFailure) throw error;
    if (timeout.aborted) throw new SourceFailure(`no complete answer within ${timeoutMs / 1000} s`, { cause: error });
    throw new SourceFailure(`the source cannot be read: ${describe(error)}`, { cause: error });
  } finally {
    // An unread body is not awaited; its connection is closed.
    if (response && !response.bodyUsed) await response.body?.cancel().catch(() => {});
  }
}
