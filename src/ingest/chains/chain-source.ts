import { gunzipSync } from 'node:zlib';

/** Where a symbol's chain is asked for. */
export interface ChainSource {
  symbol: string;
  /** May hold a secret: never logged. */
  url: string;
}

/** Limits of one request. */
export interface SourceLimits {
  /** Ms until the whole answer must be here. */
  timeoutMs: number;
  /** Bytes of the answer, unpacked. */
  maxBytes: number;
}

/** The source's tags of an answer, with which to ask whether it still holds. */
export interface AnswerTag {
  etag: string | null;
  lastModified: string | null;
}

/** The source did not give a chain. The message is fit for the log and begins in the middle of a sentence. */
export class SourceFailure extends Error {
  override readonly name = 'SourceFailure';
  /** Asking again soon would give the same: wait for the next capture. */
  readonly lasting: boolean;
  /** Ms for which the source asked to be left alone; null = it did not say. */
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

// Statuses after which another try may do better; after all others of 400…499 none will.
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
  // A packed file, not a packed answer: unpacked here.
  try {
    return gunzipSync(bytes, { maxOutputLength: maxBytes });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge();
    throw new SourceFailure('the gzip data of the answer is damaged or truncated', { cause });
  }
}

/** The innermost cause says what happened; what fetch throws says `fetch failed` or `terminated`. */
function describe(error: unknown): string {
  const { cause, message, code } = error as { cause?: unknown; message?: string; code?: string };
  if (error instanceof AggregateError && error.errors.length > 0) return describe(error.errors[0]);
  return cause instanceof Error ? describe(cause) : message || code || String(error);
}

/**
 * Asks a source for a chain: its bytes, or null when what `known` describes still holds (304). Throws `SourceFailure`;
 * when `stop` is aborted, its reason.
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
    // An unread body is not waited for, and its connection is closed.
    if (response && !response.bodyUsed) await response.body?.cancel().catch(() => {});
  }
}
