import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Access } from '../../access/open-access.ts';
import type { SampleProgress, SampleResult } from '../../intake/ingest/sample/sample-market.ts';
import type { SampleShape } from '../../intake/sample/market/plan.ts';
import type { Config } from '../../platform/config/config.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import type { Store } from '../../store/rows/connection.ts';
import { createProgress } from '../io/progress.ts';
import type { Terminal } from '../io/terminal.ts';
import { marketStopMs, runMarketProcess } from '../market-process.ts';
import type { MarketTask } from '../run-market.ts';
import type { Closer } from './shutdown.ts';

/** The store for the sample market. */
export interface SampleInto {
  terminal: Terminal;
  config: Config;
  store: Store;
  access: Access;
  now: Clock;
  log: Logger;
  /** A smaller market, for tests. */
  shape?: SampleShape | undefined;
}

/** A served sample market. */
export interface ServedSample {
  /** The key that reads all of it. */
  key: string;
  /** Resolves when the latest session is stored; rejects if that fails; null = nothing is missing. */
  latest: Promise<void> | null;
  /** Resolves when all of it is stored; never, if loading was stopped. */
  whole: Promise<void>;
  /** Stops the loading. */
  closer: Closer;
}

/** Initial and maximum wait before an interrupted loading continues, ms. The wait doubles each time. */
const firstRetryMs = 5000;
const longestRetryMs = 60_000;

/** Loads until all is stored, or `signal` is aborted: then null. Throws if the latest session cannot be stored. */
async function loadAll(
  { terminal, config, now, log, shape }: SampleInto,
  signal: AbortSignal,
  onLatest: () => void,
): Promise<SampleResult | null> {
  const progress = createProgress(terminal.stderr, terminal.now, (line) => log.info(line));
  const clockAheadMs = Math.round(now() - terminal.now());
  const task: MarketTask = { work: 'bring', config, clockAheadMs, ...(shape && { shape }) };
  let hasLatest = false;
  const latestIsStored = () => {
    if (hasLatest) return;
    // An announcement starts on a clean line.
    progress.done();
    hasLatest = true;
    onLatest();
  };
  const onProgress = ({ fraction, ...state }: SampleProgress) => {
    if (state.hasLatest) latestIsStored();
    progress.update(`loading the sample market: ${hasLatest ? 'history' : 'the latest session'}`, fraction);
  };
  for (let waitMs = firstRetryMs; !signal.aborted; waitMs = Math.min(2 * waitMs, longestRetryMs)) {
    const ended = await runMarketProcess(task, signal, onProgress).catch((error: Error) => error);
    progress.done();
    if (signal.aborted) return null;
    if (ended !== null && !(ended instanceof Error)) {
      latestIsStored();
      return ended;
    }
    const failure = ended ?? new Error('the sample market: its process was stopped');
    if (!hasLatest) throw failure;
    log.warn({ err: failure }, `loading the sample market was interrupted; it continues in ${waitMs / 1000} s`);
    await delay(waitMs, undefined, { signal }).catch(() => {});
  }
  return null;
}

/**
 * Starts to load the missing part of the sample market, in a process of its own, because generating the market takes a
 * gigabyte. Once the latest session is stored, interrupted loading resumes by itself.
 */
export function loadSample(into: SampleInto, key: string): ServedSample {
  const stop = new AbortController();
  const latest = Promise.withResolvers<void>();
  const whole = Promise.withResolvers<void>();
  latest.promise.catch(() => {});
  const loading = loadAll(into, stop.signal, latest.resolve).then((result) => {
    if (result === null) return;
    if (result === 'absent') into.log.warn('the store holds other data: the sample market is left as it is');
    else into.log.info('the sample market is loaded');
    whole.resolve();
  }, latest.reject);
  const close = () => {
    stop.abort();
    return loading;
  };
  const closer = { name: 'loading the sample market', close, atMostMs: marketStopMs + 500 };
  return { key, latest: latest.promise, whole: whole.promise, closer };
}
