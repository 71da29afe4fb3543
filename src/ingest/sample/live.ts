import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { createGunzip } from 'node:zlib';
import { regularSession } from '../../domain/calendar.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import { minuteMs } from '../../domain/units.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type SampleShape, sampleShape, sessionUnderWay } from '../../sample/market/plan.ts';
import { tapeEndMs } from '../../sample/market/tape-shape.ts';
import type { SampleTapeWriterData } from '../../sample/tape-writer.ts';
import { beginTape } from '../../store/chain/followed-lines.ts';
import { unlessRunning } from '../../store/rows/advisory-lock.ts';
import type { Store } from '../../store/rows/connection.ts';
import { inTransaction } from '../../store/rows/transaction.ts';
import { SampleEnded } from '../../store/sample-data.ts';
import { follow } from '../tail/follow.ts';
import { liveCommitEveryMs } from '../tail/live-bounds.ts';
import { pacedLines } from '../tail/paced-lines.ts';
import { ensureSampleMarket, sampleSolveMost } from './market.ts';

/** The name by which followers of the sample tape find where the last one was. */
const source = 'sample market';
const retryMs = 5000;
const longestPauseMs = 1000;
/** Time after its instant at which a capture is there, ms. */
const captureDelayMs = 1000;

export interface SampleLiveOptions {
  /** Its files go into the folder `sample` of this one. */
  dataDir: string;
  now: Clock;
  stop: AbortSignal;
  /** Called with the progress and the failures of the live market. */
  onEvent: (event: { text: string; error?: unknown }) => void;
  /** A smaller market, for tests. */
  shape?: SampleShape;
  /** Ends by itself when no session is in progress (any more). */
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

/** The tape of a session, followed as any other: from where the last follower of it was, to its end. */
async function followSession(store: Store, session: SessionDate, options: SampleLiveOptions): Promise<void> {
  const { dataDir, now, stop, onEvent, shape = sampleShape } = options;
  const folder = join(dataDir, 'sample', 'live-tape');
  // Made again at every start, and the same every time; tapes of sessions before are of no more use.
  await rm(folder, { recursive: true, force: true });
  const path = join(folder, `${session}.ndjson.gz`);
  await written({ path, session, shape: shape.tape }, stop);
  if (stop.aborted) return;
  await inTransaction(store, (tx) => beginTape(tx, source, session));
  const bytes = createGunzip({ chunkSize: 65_536 });
  // Its failure is met where the bytes are read.
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

/** Waits until the clock has come to an instant. It is asked again and again: it may be set, or the machine asleep. */
async function until(tsMs: number, { now, stop }: Pick<SampleLiveOptions, 'now' | 'stop'>): Promise<void> {
  while (!stop.aborted && now() < tsMs) await pause(Math.min(tsMs - now(), longestPauseMs), stop);
}

/** Captures chains with their GEX every few minutes while the session trades. */
async function captureSession(store: Store, session: SessionDate, options: SampleLiveOptions): Promise<void> {
  const { dataDir, now, stop, shape = sampleShape } = options;
  const stepMs = shape.captureEveryMinutes * minuteMs;
  const { openMs, closeMs } = regularSession(session)!;
  while (!stop.aborted && now() < closeMs + captureDelayMs) {
    // Counted from the open: from there captures go on.
    const next = openMs + Math.max(0, Math.floor((now() - captureDelayMs - openMs) / stepMs) + 1) * stepMs;
    await until(Math.min(next, closeMs) + captureDelayMs, { now, stop });
    if (!stop.aborted) await ensureSampleMarket(store, { dataDir, now, shape, signal: stop, besideTape: true });
  }
}

async function runSession(store: Store, session: SessionDate, options: SampleLiveOptions): Promise<void> {
  const { dataDir, now, stop, onEvent, shape = sampleShape } = options;
  onEvent({ text: `the sample market’s session ${session} is trading live` });
  // One that fails ends the other, so that both start again together.
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
  if (stop.aborted) return;
  // The session is over: now it is stored from its files, which reconciles it.
  await ensureSampleMarket(store, { dataDir, now, shape, signal: stop, besideTape: true });
}

/**
 * Lets the sample market trade by the clock: the tape of each session in progress is followed as it comes, its chains
 * are captured, and when it is over it is reconciled. Of several processes on a store one does it. Failures are
 * reported and retried. Ends when stopped, with all that came written.
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
