import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { createGunzip } from 'node:zlib';
import { regularSession } from '../../../core/domain/calendar.ts';
import type { SessionDate } from '../../../core/domain/market-time.ts';
import { type Clock, minuteMs } from '../../../platform/runtime/clock.ts';
import { beginTape } from '../../../store/chain/followed-lines.ts';
import { storeOrigin } from '../../../store/market/session-origins.ts';
import { SampleEnded, sampleTape as source } from '../../../store/origin.ts';
import { unlessRunning } from '../../../store/rows/advisory-lock.ts';
import type { Store } from '../../../store/rows/connection.ts';
import { inTransaction } from '../../../store/rows/transaction.ts';
import { type SampleShape, sampleShape, sessionUnderWay } from '../../sample/market/plan.ts';
import { tapeEndMs } from '../../sample/market/tape-shape.ts';
import type { SampleTapeWriterData } from '../../sample/tape-writer.ts';
import { follow } from '../tail/follow.ts';
import { liveCommitEveryMs } from '../tail/live-session.ts';
import { pacedLines } from '../tail/paced-lines.ts';
import { ensureSampleMarket, sampleSolveMost } from './sample-market.ts';

const retryMs = 5000;
const longestPauseMs = 1000;
/** Delay of a capture after its instant, ms. */
const captureDelayMs = 1000;

export interface SampleLiveOptions {
  /** Its files are in the folder `sample` of this one. */
  dataDir: string;
  now: Clock;
  stop: AbortSignal;
  /** Called with the progress and the failures of the live market. */
  onEvent: (event: { text: string; error?: unknown }) => void;
  /** A smaller market, for tests. */
  shape?: SampleShape;
  /** True to end when no session is in progress. */
  whileOpen?: boolean;
}

function written(data: SampleTapeWriterData, stop: AbortSignal): Promise<void> {
  const worker = new Worker(new URL('../../sample/tape-writer.ts', import.meta.url), { workerData: data });
  const end = () => void worker.terminate();
  stop.addEventListener('abort', end, { once: true });
  return new Promise<void>((resolve, reject) => {
    worker.on('error', reject);
    worker.on('exit', () => resolve());
  }).finally(() => stop.removeEventListener('abort', end));
}

/** Follows the tape of a session like any other: from the last position to its end. */
async function followSession(store: Store, session: SessionDate, options: SampleLiveOptions): Promise<void> {
  const { dataDir, now, stop, onEvent, shape = sampleShape } = options;
  const folder = join(dataDir, 'sample', 'live-tape');
  // Generated again at every start, with the same result; tapes of earlier sessions are obsolete.
  await rm(folder, { recursive: true, force: true });
  const path = join(folder, `${session}.ndjson.gz`);
  await written({ path, session, shape: shape.tape }, stop);
  if (stop.aborted) return;
  await inTransaction(store, (tx) => beginTape(tx, source, session));
  const bytes = createGunzip({ chunkSize: 65_536 });
  // Its failure is handled where the bytes are read.
  pipeline(createReadStream(path), bytes, () => {});
  try {
    await follow(store, pacedLines(bytes, { now, stop }), {
      source,
      fromStart: true,
      everyMs: liveCommitEveryMs,
      now,
      stop,
      gammaSource: 'vendor',
      rate: 0.045,
      solveMost: sampleSolveMost,
      isSample: true,
      onBadLine: ({ line, reason }) => onEvent({ text: `line ${line} of the sample tape skipped: ${reason}` }),
    });
  } finally {
    bytes.destroy();
  }
}

const pause = (ms: number, signal: AbortSignal) => delay(ms, undefined, { signal }).catch(() => {});

/**
 * Waits until the clock has reached an instant. The clock is polled, because it may be set, or the machine suspended.
 */
async function until(tsMs: number, { now, stop }: Pick<SampleLiveOptions, 'now' | 'stop'>): Promise<void> {
  while (!stop.aborted && now() < tsMs) await pause(Math.min(tsMs - now(), longestPauseMs), stop);
}

/** Stores what is missing up to now of a sample market that was not removed. Throws `SampleEnded`. */
async function extendSample(store: Store, { dataDir, now, stop, shape = sampleShape }: SampleLiveOptions) {
  if ((await storeOrigin(store)) !== 'sample') throw new SampleEnded();
  await ensureSampleMarket(store, { dataDir, now, shape, signal: stop, besideTape: true });
}

/** Captures chains with their GEX every few minutes during the session. */
async function captureSession(store: Store, session: SessionDate, options: SampleLiveOptions): Promise<void> {
  const { now, stop, shape = sampleShape } = options;
  const stepMs = shape.captureEveryMinutes * minuteMs;
  const { openMs, closeMs } = regularSession(session)!;
  while (!stop.aborted && now() < closeMs + captureDelayMs) {
    // Counted from the open, at which captures start.
    const next = openMs + Math.max(0, Math.floor((now() - captureDelayMs - openMs) / stepMs) + 1) * stepMs;
    await until(Math.min(next, closeMs) + captureDelayMs, { now, stop });
    if (!stop.aborted) await extendSample(store, options);
  }
}

async function runSession(store: Store, session: SessionDate, options: SampleLiveOptions): Promise<void> {
  const { stop, now, onEvent } = options;
  onEvent({ text: `the sample market’s session ${session} is trading live` });
  // A failure of one ends the other, so that both restart together.
  const failed = new AbortController();
  const part = { ...options, stop: AbortSignal.any([stop, failed.signal]) };
  const end = (error: unknown) => {
    failed.abort();
    throw error;
  };
  const parts = [followSession(store, session, part).catch(end), captureSession(store, session, part).catch(end)];
  await Promise.allSettled(parts);
  await Promise.all(parts);
  await until(tapeEndMs(session), { now, stop });
  // The session is over: storing it from its files reconciles it.
  if (!stop.aborted) await extendSample(store, options);
}

/**
 * Lets the sample market trade by the clock: the tape of each session in progress is followed live, its chains are
 * captured, and afterwards it is reconciled. Of several processes on a store one does it. Failures are reported and
 * retried. Ends when stopped, after writing all records taken.
 */
export async function runSampleMarket(store: Store, options: SampleLiveOptions): Promise<void> {
  const { now, stop, onEvent, whileOpen = false } = options;
  while (!stop.aborted) {
    const session = sessionUnderWay(now());
    if (session === null && whileOpen) return;
    try {
      if (session !== null)
        await unlessRunning(store, 'live sample market', (lost) =>
          runSession(store, session, { ...options, stop: AbortSignal.any([stop, lost]) }),
        );
    } catch (error) {
      if (error instanceof SampleEnded) return;
      if (!stop.aborted) onEvent({ text: 'the live sample market was interrupted', error });
    }
    await pause(retryMs, stop);
  }
}
