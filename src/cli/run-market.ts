import type { Writable } from 'node:stream';
import type { SampleProgress, SampleResult } from '../intake/ingest/sample/sample-market.ts';
import type { SampleShape } from '../intake/sample/market/plan.ts';
import type { Config } from '../platform/config/config.ts';
import type { Clock } from '../platform/runtime/clock.ts';
import type { Store } from '../store/rows/connection.ts';
import { lineLog, logOf } from './line-log.ts';

/** Task of the sample market's process: store missing sessions, or let the session in progress trade. */
export interface MarketTask {
  work: 'bring' | 'trade';
  config: Config;
  /** Offset of the server's clock from the machine's, ms. */
  clockAheadMs: number;
  /** A smaller market, for tests. */
  shape?: SampleShape;
}

/** Messages to it. */
export type MarketOrder = { order: 'work'; task: MarketTask } | { order: 'stop' };

/** Messages from it: it waits for its task, its progress, its result, or its failure. */
export type MarketMessage =
  | { market: 'waiting' }
  | ({ market: 'progress' } & SampleProgress)
  | { market: 'brought'; result: SampleResult }
  | { market: 'failed'; why: string };

/** The input and output of the process. */
export interface MarketProcess {
  send: (message: MarketMessage) => void;
  onMessage: (listener: (message: MarketOrder) => void) => void;
  /** Aborted when it must end; it aborts it itself when ordered to. */
  stop: AbortController;
  now: Clock;
  stderr: Writable;
}

/** Number of database connections: a few files are stored concurrently. */
const poolSize = 8;

async function bring(
  store: Store,
  { config, shape }: MarketTask,
  now: Clock,
  { send, stop }: MarketProcess,
): Promise<void> {
  const { ensureSampleMarket } = await import('../intake/ingest/sample/sample-market.ts');
  const result = await ensureSampleMarket(store, {
    dataDir: config.dataDir,
    now,
    besideTape: true,
    isShown: true,
    ...(shape && { shape }),
    signal: stop.signal,
    onProgress: (progress) => send({ market: 'progress', ...progress }),
  });
  send({ market: 'brought', result });
}

async function trade(store: Store, { config }: MarketTask, now: Clock, process: MarketProcess): Promise<void> {
  const { runSampleMarket } = await import('../intake/ingest/sample/live.ts');
  const log = logOf(config, process.stderr);
  await runSampleMarket(store, {
    dataDir: config.dataDir,
    now,
    stop: process.stop.signal,
    whileOpen: true,
    onEvent: ({ text, error }) => (error === undefined ? log.info(text) : log.warn({ err: error }, text)),
  });
}

function nextTask({ send, onMessage, stop }: MarketProcess): Promise<MarketTask | null> {
  return new Promise((resolve) => {
    stop.signal.addEventListener('abort', () => resolve(null), { once: true });
    onMessage((message) => {
      if (message.order === 'work') resolve(message.task);
      else stop.abort();
    });
    send({ market: 'waiting' });
  });
}

/**
 * Requests a task and works until it is done or stopped, or the parent process has ended. Returns true if it ended
 * without a failure.
 */
export async function runMarket(process: MarketProcess): Promise<boolean> {
  const task = await nextTask(process);
  if (task === null) return true;
  const { config, clockAheadMs, work } = task;
  const now: Clock = () => process.now() + clockAheadMs;
  try {
    const { openStore } = await import('../store/rows/connection.ts');
    const log = lineLog(logOf(config, process.stderr));
    const { databaseUrl, dataDir, keepSupersededMs } = config;
    const to = { databaseUrl, dataDir, keepSupersededMs, poolSize };
    const store = await openStore({ ...to, migrate: false, log, stop: process.stop.signal });
    try {
      await (work === 'bring' ? bring : trade)(store, task, now, process);
    } finally {
      await store.close();
    }
    return true;
  } catch (error) {
    if (process.stop.signal.aborted) return true;
    process.send({ market: 'failed', why: error instanceof Error ? error.message : String(error) });
    return false;
  }
}
