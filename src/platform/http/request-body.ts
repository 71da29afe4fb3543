import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { yieldForBytes } from '../runtime/event-loop.ts';
import {
  bodyTooLarge,
  bodyTooSlow,
  type Failure,
  invalidParameter,
  overloaded,
  rateLimited,
  unsupportedCharset,
  unsupportedEncoding,
  unsupportedMediaType,
} from '../wire/failure.ts';

/** Minimum speed of a body, and limits of the bodies that a process receives. */
export interface BodyLimits {
  /** Time before the rate of a body counts, ms. */
  graceMs: number;
  /** Minimum rate after that, as the average since reading began. */
  bytesPerSecond: number;
  /** Longest pause between two chunks, ms. */
  stallMs: number;
  /** Maximum bytes of unfinished bodies per caller. */
  bytesPerCaller: number;
  /** Maximum bytes of unfinished bodies of the process. */
  bytesInAll: number;
}

/** Reason for which a body was not read to its end. */
type BodyProblem = 'too-large' | 'too-slow' | 'cut-off' | 'caller-holds-too-many' | 'too-many';

/** Thrown for a body that was not read to its end. */
export class UnreadBody extends Error {
  readonly problem: BodyProblem;

  constructor(problem: BodyProblem) {
    super(`the body was not read: ${problem}`);
    this.name = 'UnreadBody';
    this.problem = problem;
  }
}

/** Bytes of unfinished bodies, in total and by caller. */
export interface HeldBytes {
  total: number;
  byCaller: Map<string, number>;
}

interface Bounds {
  limits: BodyLimits;
  held: HeldBytes;
  /** Sends `100 Continue`, once, if the client waits for it. */
  sendContinue: (() => void) | null;
}

const boundsOf = new WeakMap<IncomingMessage, Bounds>();

/** Sets the limits of a request's body. `waiting`: the client sends the body only after `100 Continue`. */
export function limitBody(
  request: IncomingMessage,
  response: ServerResponse,
  { limits, held, waiting }: { limits: BodyLimits; held: HeldBytes; waiting: boolean },
): void {
  boundsOf.set(request, { limits, held, sendContinue: waiting ? () => response.writeContinue() : null });
}

/** True if the client still waits for `100 Continue` before it sends the body. */
export function isAwaitingContinue(request: IncomingMessage): boolean {
  return (boundsOf.get(request)?.sendContinue ?? null) !== null;
}

/** The length of the body that a request declares, bytes; null = chunked, unknown. */
export function declaredLength({ headers }: IncomingMessage): number | null {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : null;
}

/** The media type of a request's body in lower case, without parameters; '' when none is named. */
function mediaTypeOf({ headers }: IncomingMessage): string {
  return (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
}

/** Calls `slow` if a body arrives too slowly, until its timer is cleared. */
function watchPace({ graceMs, bytesPerSecond, stallMs }: BodyLimits, received: { length: number }, slow: () => void) {
  const startedMs = performance.now();
  let last = { bytes: 0, atMs: startedMs };
  const check = () => {
    const nowMs = performance.now();
    const bytes = received.length;
    if (bytes > last.bytes) last = { bytes, atMs: nowMs };
    const owedBytes = ((nowMs - startedMs - graceMs) / 1000) * bytesPerSecond;
    if (bytes < owedBytes || nowMs - last.atMs > stallMs) slow();
  };
  return setInterval(check, Math.min(1000, graceMs, stallMs)).unref();
}

/**
 * Frees the memory of a buffer that is no longer read. V8 would free it at its next collection, which small objects
 * trigger and buffers do not: consecutive bodies left a hundred megabytes until then.
 */
export function releaseBytes(bytes: Buffer): void {
  // Small buffers share one allocation.
  if (bytes.byteLength === bytes.buffer.byteLength) (bytes.buffer as ArrayBuffer).transfer(0);
}

/** Joins chunks that are no longer read on their own. */
function joined(pieces: readonly Buffer[]): Buffer {
  if (pieces.length === 1) return pieces[0]!;
  const bytes = Buffer.concat(pieces);
  for (const piece of pieces) releaseBytes(piece);
  return bytes;
}

/**
 * Number of chunks of a body that are joined at a time: a body of a million chunks must not become a million objects.
 */
const piecesJoined = 128;
/** Bytes of chunks that are joined at a time: their memory is free for the next ones. */
const bytesJoined = 256 * 1024;

/** Received chunks of a body and their total size. */
class Pieces {
  length = 0;
  #joinedLength = 0;
  readonly #joined: Buffer[] = [];
  #pieces: Buffer[] = [];

  add(piece: Buffer): void {
    this.length += piece.length;
    this.#pieces.push(piece);
    if (this.#pieces.length < piecesJoined && this.length - this.#joinedLength < bytesJoined) return;
    this.#joined.push(joined(this.#pieces));
    this.#joinedLength = this.length;
    this.#pieces = [];
  }

  bytes(): Buffer {
    return joined([...this.#joined, ...this.#pieces]);
  }
}

/** Counts `bytes` more, or fewer, of unfinished bodies for a caller. Returns the limit that this exceeds, or null. */
function hold({ held, limits }: Bounds, caller: string, bytes: number): BodyProblem | null {
  const own = (held.byCaller.get(caller) ?? 0) + bytes;
  if (own > 0) held.byCaller.set(caller, own);
  else held.byCaller.delete(caller);
  held.total += bytes;
  if (own > limits.bytesPerCaller) return 'caller-holds-too-many';
  return held.total > limits.bytesInAll ? 'too-many' : null;
}

function sendContinue(bounds: Bounds | undefined): void {
  if (!bounds?.sendContinue) return;
  bounds.sendContinue();
  bounds.sendContinue = null;
}

/**
 * The bytes of a request's body. Throws `UnreadBody`: as soon as they are more than `maxBytes`, when they arrive slower
 * than the limits of the server allow, when the client disconnects, and when the process or `caller` has too many bytes
 * of unfinished bodies. The rest of the body is then discarded. A client that waits for `100 Continue` gets it here.
 */
export async function requestBody(request: IncomingMessage, maxBytes: number, caller: string): Promise<Buffer> {
  if ((declaredLength(request) ?? 0) > maxBytes) throw new UnreadBody('too-large');
  const bounds = boundsOf.get(request);
  sendContinue(bounds);
  if (request.destroyed && !request.readableEnded) throw new UnreadBody('cut-off');
  const pieces = new Pieces();
  const done = Promise.withResolvers<void>();
  const fail = (problem: BodyProblem) => done.reject(new UnreadBody(problem));
  const onData = (piece: Buffer) => {
    pieces.add(piece);
    const passed = bounds ? hold(bounds, caller, piece.length) : null;
    if (pieces.length > maxBytes) fail('too-large');
    else if (passed !== null) fail(passed);
  };
  // A fully received request closes too; an error, which is slow to create, would be unused.
  const onCut = () => {
    if (!request.readableEnded) fail('cut-off');
  };
  const watch = bounds && !request.complete ? watchPace(bounds.limits, pieces, () => fail('too-slow')) : null;
  request.on('data', onData).once('end', done.resolve).once('error', onCut).once('close', onCut);
  try {
    await done.promise;
    return pieces.bytes();
  } finally {
    clearInterval(watch ?? undefined);
    if (bounds) hold(bounds, caller, -pieces.length);
    request.off('data', onData).off('end', done.resolve).off('close', onCut).resume();
  }
}

/** The 413 of a body with more than this many bytes. */
export function bodyOver(maxBytes: number): Failure {
  return bodyTooLarge(maxBytes >= 1 << 20 ? `${maxBytes / (1 << 20)} MiB` : `${maxBytes / 1024} KiB`);
}

/** The error sent for a body that was not read to its end. */
function failureOf(problem: BodyProblem, maxBytes: number): Failure {
  switch (problem) {
    case 'too-large':
      return bodyOver(maxBytes);
    case 'too-slow':
      return bodyTooSlow();
    case 'cut-off':
      return invalidParameter('body', 'ended before it was complete');
    case 'caller-holds-too-many':
      return rateLimited('Too many request bodies at a time from this client.', 1);
    case 'too-many':
      return overloaded('The server is receiving too many request bodies.', 1);
  }
}

/** True if a Content-Type declares UTF-8, or no character set at all. */
function declaresUtf8(contentType = ''): boolean {
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(contentType)?.[1];
  return charset === undefined || /^(utf-?8|us-ascii)$/i.test(charset);
}

/** Rules of an endpoint for bodies. */
interface BodyRules {
  maxBytes: number;
  /** Media types in lower case; the error names the first. */
  mediaTypes: readonly string[];
  /** Caller that the bytes are counted for, in the limit of bodies in progress. */
  caller?: string;
}

/**
 * The bytes of a request's body. Throws 413 as soon as they are more than `maxBytes`, 415 for another media type, for a
 * compressed body and for another character set than UTF-8, 408 when it arrives too slowly, 400 when the client
 * disconnects, and 429 or 503 when `caller` or the process has too many in progress. An empty body may have any type. A
 * large body is processed when it is scheduled.
 */
export async function bodyBytes(
  request: IncomingMessage,
  { maxBytes, mediaTypes, caller = '' }: BodyRules,
): Promise<Buffer> {
  const encoding = request.headers['content-encoding']?.trim().toLowerCase();
  if (encoding && encoding !== 'identity') throw unsupportedEncoding();
  if (!declaresUtf8(request.headers['content-type'])) throw unsupportedCharset();
  const requireMediaType = () => {
    if (!mediaTypes.includes(mediaTypeOf(request))) throw unsupportedMediaType(mediaTypes.join(' or '));
  };
  // An unusable body is not read; a body that is too large is 413 in any case.
  const length = declaredLength(request) ?? 0;
  if (length > 0 && length <= maxBytes) requireMediaType();
  try {
    const bytes = await requestBody(request, maxBytes, caller);
    if (bytes.length > 0) requireMediaType();
    await yieldForBytes(bytes.length);
    return bytes;
  } catch (error) {
    throw error instanceof UnreadBody ? failureOf(error.problem, maxBytes) : error;
  }
}

/** The UTF-8 text of a body, without a byte order mark. Throws 400 for anything else. */
export function utf8Text(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw invalidParameter('body', 'expected UTF-8 text');
  const text = bytes.toString();
  releaseBytes(bytes);
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}
