import type { Store } from '../../../store/rows/connection.ts';
import type { OnBadLine } from '../../tape/csv/tape-file.ts';
import { readLiveLines } from '../../tape/live/live-lines.ts';
import { Follower, type FollowerOptions } from './follower.ts';

/** Size of unwritten lines at which they are written early, bytes. */
const mostPendingBytes = 8 * 1024 * 1024;

export interface FollowOptions extends FollowerOptions {
  /** Interval of writes, ms. */
  everyMs: number;
  stop: AbortSignal;
  onBadLine: OnBadLine;
}

/** Counts of a follower. */
export interface FollowReport {
  /** Number of lines taken in total, and by this follower. */
  throughLine: number;
  lines: number;
  badLines: number;
  /** Number of records that came after their session ended; they are not stored. */
  late: number;
  /** Number of prints that repeat others, and count once. */
  duplicates: number;
  commits: number;
}

/** Wraps a stream so that each piece is remembered until the next is requested. */
function remembering(pieces: AsyncIterable<Buffer>) {
  const last = { piece: Buffer.alloc(0) as Buffer };
  async function* through() {
    for await (const piece of pieces) {
      last.piece = piece;
      yield piece;
    }
  }
  return { last, pieces: through() };
}

/**
 * The first event: the next piece of the tape, the time to write (`dueInMs`; infinite: never), or the stop. Not a race
 * of promises, which would retain all of the tape until the stop.
 */
function nextOf<T>(next: Promise<T>, dueInMs: number, stop: AbortSignal): Promise<T | 'due' | 'stopped'> {
  return new Promise((resolve, reject) => {
    const onStop = () => settle(() => resolve('stopped'));
    const timer = Number.isFinite(dueInMs) ? setTimeout(() => settle(() => resolve('due')), dueInMs) : undefined;
    function settle(how: () => void) {
      clearTimeout(timer);
      stop.removeEventListener('abort', onStop);
      how();
    }
    stop.addEventListener('abort', onStop);
    if (stop.aborted) onStop();
    next.then(
      (came) => settle(() => resolve(came)),
      (error: unknown) => settle(() => reject(error)),
    );
  });
}

/**
 * Follows a live tape: its records are written at least every `everyMs`, in a transaction together with the position on
 * the tape. A process that ends in any way has written exactly what it committed; the next one resumes from there with
 * the same result as an undisturbed one. Ends with the tape, or when stopped. Throws if the store fails.
 */
export async function follow(
  store: Store,
  tape: AsyncIterable<Uint8Array>,
  options: FollowOptions,
): Promise<FollowReport> {
  const follower = new Follower(store, options);
  const before = await follower.recover();
  const lines = options.fromStart ? withoutLines(wholeLines(tape), before) : wholeLines(tape);
  const { last, pieces } = remembering(lines);
  let badLines = 0;
  const onBadLine: OnBadLine = (bad) => {
    badLines++;
    options.onBadLine(bad);
  };
  const batches = readLiveLines(pieces, { name: options.source, book: follower.book, now: options.now, onBadLine });
  let through = 0;
  let dueAt = Number.POSITIVE_INFINITY;
  let next = batches.next();
  // A failure is handled where it is awaited.
  next.catch(() => {});
  for (;;) {
    const came = await nextOf(next, dueAt - options.now(), options.stop);
    if (came === 'stopped') break;
    if (came !== 'due') {
      if (came.done) {
        await follower.letTimePass();
        break;
      }
      await follower.take(last.piece, came.value.throughLine - through, came.value.records);
      through = came.value.throughLine;
      if (!Number.isFinite(dueAt)) dueAt = options.now() + options.everyMs;
      next = batches.next();
      next.catch(() => {});
    }
    if (came !== 'due' && options.now() < dueAt && follower.pendingBytes < mostPendingBytes) continue;
    await follower.commit();
    dueAt = follower.hasBars ? options.now() + options.everyMs : Number.POSITIVE_INFINITY;
  }
  if (follower.pendingBytes > 0 || follower.hasBars) await follower.commit({ whole: true });
  await follower.noteEnd();
  return { ...follower.report(), lines: through, badLines };
}

const lineFeed = 0x0a;

/** Splits a stream so that every piece ends with a line; a last line without an end is given one. */
async function* wholeLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let rest: Uint8Array[] = [];
  for await (const piece of source) {
    const end = piece.lastIndexOf(lineFeed) + 1;
    if (end > 0) yield Buffer.concat([...rest, piece.subarray(0, end)]);
    // Copied, because the stream may reuse its buffer.
    if (end > 0) rest = [];
    if (end < piece.length) rest.push(Uint8Array.from(piece.subarray(end)));
  }
  if (rest.length > 0) yield Buffer.concat([...rest, Buffer.from('\n')]);
}

/** The pieces without their first `count` lines. */
async function* withoutLines(pieces: AsyncIterable<Buffer>, count: number): AsyncGenerator<Buffer> {
  let left = count;
  for await (const piece of pieces) {
    let from = 0;
    while (left > 0 && from < piece.length) {
      from = piece.indexOf(lineFeed, from) + 1;
      left--;
    }
    if (from < piece.length) yield from === 0 ? piece : piece.subarray(from);
  }
}
