import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { Worker } from 'node:worker_threads';
import type { Dataset } from '../../../core/domain/dataset.ts';
import type { Clock } from '../../../platform/runtime/clock.ts';
import { SampleEnded } from '../../../store/origin.ts';
import { exclusively } from '../../../store/rows/advisory-lock.ts';
import type { Store } from '../../../store/rows/connection.ts';
import { isTape, type SampleShape, type SampleTask, sampleShape, untilLatest } from '../../sample/market/plan.ts';
import type { SampleWriterData, SampleWritten } from '../../sample/writer.ts';
import { type FileReport, ingestFiles } from '../ingest.ts';
import {
  missingSample,
  type SampleLoading,
  sampleLock,
  sampleMetadata,
  writeSampleMetadata,
} from '../sample-metadata.ts';

/** Number of contracts per ticker that are solved every minute: few, so that the market loads fast. */
export const sampleSolveMost = 4;

/** Progress of a market. */
export interface SampleProgress {
  /** 0…1. */
  fraction: number;
  /** True if the current or last session of the market is completely stored. */
  hasLatest: boolean;
}

export interface SampleMarketOptions {
  /** Its files are in the folder `sample` of this one. */
  dataDir: string;
  now: Clock;
  /** Called when a file is stored, and awaited. */
  onProgress?: (progress: SampleProgress) => Promise<void> | void;
  /** A smaller market, for tests. */
  shape?: SampleShape;
  /** True if the tape of the session in progress is followed live (followSampleTape), and not stored from files. */
  besideTape?: boolean;
  /** True to store the progress for the processes that serve the incomplete market. */
  isShown?: boolean;
  /** Aborted to stop; data stored by then stays, and the next start continues. */
  signal?: AbortSignal;
}

/**
 * `created`, `extended` to now, `unchanged`, or `absent`: the store holds other data, or a market of another version,
 * and was not changed.
 */
export type SampleResult = 'created' | 'extended' | 'unchanged' | 'absent';

/** Interval at which a process that waits for another's loading checks the progress, ms. */
const lookAtOtherMs = 1000;

// Number of files stored concurrently: while one waits for the database, another is parsed.
const lanes = 3;

interface Arrival extends SampleWritten {
  task: SampleTask;
}

/** Starts the writer and yields its files as they are written, in order. */
async function* writtenFiles(folder: string, tasks: SampleTask[]): AsyncGenerator<Arrival> {
  const data: SampleWriterData = { folder, tasks };
  const worker = new Worker(new URL('../../sample/writer.ts', import.meta.url), { workerData: data });
  const arrived: Arrival[] = [];
  let failure: unknown = null;
  let ended = false;
  let wake = () => {};
  worker.on('message', (written: SampleWritten) => {
    arrived.push({ ...written, task: tasks[written.index]! });
    wake();
  });
  worker.on('error', (error) => {
    failure = error;
    wake();
  });
  worker.on('exit', () => {
    ended = true;
    wake();
  });
  try {
    for (let count = 0; count < tasks.length; ) {
      if (failure !== null) throw failure;
      const next = arrived.shift();
      if (next) {
        count++;
        yield next;
      } else if (ended) {
        throw new Error('the writer of the sample market stopped early');
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    await worker.terminate();
  }
}

// Relative time of storing a file, for the progress only.
const weights: Record<SampleTask['dataset'], number> = {
  splits: 1,
  dividends: 1,
  rates: 1,
  roots: 1,
  'volatility-days': 2,
  'stock-day-bars': 3,
  'stock-minute-bars': 20,
  'option-minute-bars': 10,
  chain: 1,
  'stock-trades': 60,
  'option-trades': 120,
};

function storingFailed({ file, reason }: FileReport): Error {
  return new Error(`The sample market could not be stored: ${file}: ${reason}`);
}

/** Stores one file. */
async function storeTask(
  store: Store,
  { task, path, quotes }: Arrival,
  { now, signal }: Pick<SampleMarketOptions, 'now' | 'signal'>,
): Promise<void> {
  const dataset: Dataset = task.dataset;
  const report = await ingestFiles(store, dataset, [path], {
    now,
    // Its quotes are of the time of their page.
    delayMs: 0,
    gammaSource: task.dataset === 'chain' && task.solve ? 'solve' : 'vendor',
    quoteFiles: quotes === null ? [] : [quotes],
    solveMost: sampleSolveMost,
    bundled: 'sample',
    force: isTape(task) && task.again === true,
    ...(signal && { signal }),
  });
  for (const file of report.files) if (file.status === 'refused') throw storingFailed(file);
}

// Data from prints replaces bars, and depends on chains and on the prints of earlier sessions: a tape waits for all of
// them before it.
const waitsFor = (task: SampleTask, other: SampleTask) =>
  isTape(task) && (task.again || !(isTape(other) && other.session === task.session));

async function bring(
  store: Store,
  tasks: SampleTask[],
  { dataDir, now, signal, onProgress }: SampleMarketOptions,
  nowMs: number,
): Promise<void> {
  const total = tasks.reduce((sum, task) => sum + weights[task.dataset], 0);
  let done = 0;
  let beforeLatest = untilLatest(tasks, nowMs);
  const ofLatest = new Set(tasks.slice(0, beforeLatest));
  const stored = new Map(tasks.map((task) => [task, Promise.withResolvers<void>()]));
  const files = writtenFiles(join(dataDir, 'sample'), tasks);
  const lane = async () => {
    for await (const file of files) {
      const { task } = file;
      const before = tasks.slice(0, tasks.indexOf(task)).filter((other) => waitsFor(task, other));
      await Promise.all(before.map((other) => stored.get(other)!.promise));
      signal?.throwIfAborted();
      await storeTask(store, file, { now, ...(signal && { signal }) });
      stored.get(task)!.resolve();
      done += weights[task.dataset];
      if (ofLatest.has(task)) beforeLatest--;
      await onProgress?.({ fraction: done / total, hasLatest: beforeLatest === 0 });
    }
  };
  try {
    await Promise.all(Array.from({ length: lanes }, lane));
  } finally {
    await files.return(undefined);
  }
}

/**
 * Stores the market's progress for the processes that serve it. Announced data stays announced when an interrupted
 * loading resumes, which begins with the first file again.
 */
function progressInStore(store: Store, throughMs: number | null, before: SampleLoading | undefined) {
  let said = before;
  // In sequence: files are stored concurrently, and an earlier figure must not overwrite a later one.
  let writing = Promise.resolve();
  return async ({ fraction, hasLatest }: SampleProgress): Promise<void> => {
    const loading = {
      percent: Math.max(Math.floor(fraction * 100), said?.percent ?? 0),
      hasLatest: hasLatest || (said?.hasLatest ?? false),
    };
    if (isDeepStrictEqual(loading, said)) return writing;
    said = loading;
    writing = writing.then(() => writeSampleMetadata(store, { throughMs, loading }));
    await writing;
  };
}

async function ensure(store: Store, options: SampleMarketOptions): Promise<SampleResult> {
  const { now, shape = sampleShape, besideTape, isShown = false, onProgress } = options;
  const nowMs = now();
  const work = await missingSample(store, nowMs, { shape, besideTape });
  if (work === null) return 'absent';
  const { metadata, tasks } = work;
  if (tasks.length === 0) return 'unchanged';
  const throughMs = metadata?.throughMs ?? null;
  const keep = isShown ? progressInStore(store, throughMs, metadata?.loading) : async () => {};
  const report = async (progress: SampleProgress) => {
    await keep(progress);
    await onProgress?.(progress);
  };
  try {
    // Written before anything else is stored, so that the next start continues an interrupted one.
    if (metadata === null) await writeSampleMetadata(store, { throughMs }, { begins: true });
    await report({ fraction: 0, hasLatest: untilLatest(tasks, nowMs) === 0 });
    await bring(store, tasks, { ...options, onProgress: report }, nowMs);
    await writeSampleMetadata(store, { throughMs: nowMs });
  } catch (error) {
    if (!(error instanceof SampleEnded)) throw error;
    return 'absent';
  }
  return throughMs === null ? 'created' : 'extended';
}

/** Reports the progress of another process that loads the market, until `stop` is aborted. */
async function reportOther(store: Store, { onProgress }: SampleMarketOptions, stop: AbortSignal): Promise<void> {
  for (;;) {
    await delay(lookAtOtherMs, undefined, { signal: stop });
    const { loading } = (await sampleMetadata(store)) ?? {};
    if (loading && !stop.aborted) await onProgress?.({ ...loading, fraction: loading.percent / 100 });
  }
}

/**
 * Loads the simulated market into a store without market data: writes vendor files into the data folder and stores them
 * like any others. An existing market is extended to the current session, or left unchanged. A store with other data is
 * not changed. Of two processes that start together one does it, and the other waits.
 */
export function ensureSampleMarket(store: Store, options: SampleMarketOptions): Promise<SampleResult> {
  const held = new AbortController();
  // Rejects when it is stopped; a failure to read the store is handled by the next step.
  if (options.isShown) reportOther(store, options, held.signal).catch(() => {});
  return exclusively(store, sampleLock, () => {
    held.abort();
    return ensure(store, options);
  }).finally(() => held.abort());
}
