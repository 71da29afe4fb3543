import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { SampleProgress, SampleResult } from '../intake/ingest/sample/sample-market.ts';
import type { MarketMessage, MarketOrder, MarketTask } from './run-market.ts';

/** A child process of the sample market. */
export interface MarketChild {
  /** Resolves when it has ended by itself or as ordered; rejects with the reason of a failure. */
  ended: Promise<SampleResult | null>;
  /** Sends SIGTERM, and SIGKILL after `withinMs`. Resolves when it has ended in either way. */
  stop(withinMs: number): Promise<void>;
}

/** Time for its last messages to arrive after its end, ms. */
const lastWordsMs = 500;

// Its heap limit is its own: this process's is sized for a server.
const isHeapOption = (option: string) =>
  /^--(max[-_](old|semi)[-_]space[-_]size|heap[-_]growing[-_]percent)/.test(option);

/** Starts a process of the sample market, and calls `onProgress` with its progress. */
export function startMarket(task: MarketTask, onProgress: (progress: SampleProgress) => void = () => {}): MarketChild {
  const program = fileURLToPath(new URL('../market.ts', import.meta.url));
  const execArgv = process.execArgv.filter((option) => !isHeapOption(option));
  const child = fork(program, [], { execArgv, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const tell = (order: MarketOrder) => {
    if (child.connected) child.send(order, () => {});
  };
  let result: SampleResult | null = null;
  let why: string | null = null;
  let stopping = false;
  child.on('message', (message: MarketMessage) => {
    if (message.market === 'waiting') tell({ order: 'work', task });
    else if (message.market === 'progress') onProgress(message);
    else if (message.market === 'brought') result = message.result;
    else why = message.why;
  });
  const ended = new Promise<SampleResult | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', async (code, signal) => {
      if (child.connected) await Promise.race([once(child, 'disconnect'), delay(lastWordsMs)]);
      if (code === 0 || stopping) return resolve(result);
      const end = signal === null ? `ended with code ${code}` : `was ended by ${signal}`;
      reject(new Error(`the sample market: ${why ?? `its process ${end}`}`));
    });
  });
  // The failure is handled where the promise is awaited.
  ended.catch(() => {});
  return {
    ended,
    async stop(withinMs) {
      stopping = true;
      tell({ order: 'stop' });
      const impatience = setTimeout(() => child.kill('SIGKILL'), withinMs);
      await ended.catch(() => {});
      clearTimeout(impatience);
    },
  };
}

/** Time for a process to end when `runMarketProcess`'s `signal` is aborted, ms. */
export const marketStopMs = 3000;

/** Runs a process of the sample market until `signal` is aborted; settles like its `ended`. */
export async function runMarketProcess(
  task: MarketTask,
  signal: AbortSignal,
  onProgress?: (progress: SampleProgress) => void,
): Promise<SampleResult | null> {
  const child = startMarket(task, onProgress);
  const end = () => void child.stop(marketStopMs);
  signal.addEventListener('abort', end, { once: true });
  return child.ended.finally(() => signal.removeEventListener('abort', end));
}
