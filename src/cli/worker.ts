import { isAboutLimits, type LimitsAnswer, limitsByMessage } from '../access/limits-by-message.ts';
import { type Config, secretsOf } from '../config.ts';
import type { Clock } from '../domain/clock.ts';
import { openLog } from '../observe/log.ts';
import { closeAll } from './closing.ts';
import type { OrderMessage, WorkerMessage } from './crew.ts';
import { lineLog, runGateway, shutdownMs, untilInterrupted } from './gateway.ts';
import { startLiveSample } from './sample.ts';
import type { Terminal } from './terminal.ts';

/** What a worker is to do. */
export interface WorkerTask {
  /** `gateway` answers requests; `market` lets the sample market trade. */
  role: 'gateway' | 'market';
  config: Config;
  /** How far the server's clock is ahead of the machine's, ms. */
  clockAheadMs: number;
  /** The sample market's key; null without one. */
  key: string | null;
  /** Database connections at most. */
  poolSize: number;
}

/** The way between a worker and the process that started it. */
export interface Line {
  send(message: object): void;
  onMessage(listener: (message: OrderMessage<WorkerTask> | LimitsAnswer) => void): void;
  /** Called when the process that started this one has ended. */
  onLost(listener: () => void): void;
}

/** The process that a worker is. */
export interface WorkerProcess {
  pid: number;
  /** Its number among the workers, for the log. */
  number: number;
  terminal: Omit<Terminal, 'interrupted'>;
  /** Asked to end by a signal. */
  interrupted: AbortController;
}

function logOf({ config }: WorkerTask, { number, terminal }: WorkerProcess) {
  return openLog({ level: config.logLevel, secrets: secretsOf(config) }, terminal.stderr).child({ worker: number });
}

async function serve(task: WorkerTask, line: Line, process: WorkerProcess, say: Say) {
  const { pid, terminal, interrupted } = process;
  const { config, clockAheadMs, key, poolSize } = task;
  const limits = limitsByMessage(config.rates, line.send);
  line.onMessage((message) => isAboutLimits(message) && limits.hear(message));
  line.onLost(limits.lost);
  const clock: Clock = () => terminal.now() + clockAheadMs;
  const log = logOf(task, process);
  const whole = { ...terminal, interrupted: interrupted.signal };
  const gateway = { terminal: whole, config, options: {}, clock, log, crew: { limits, key, poolSize } };
  await runGateway(gateway, ({ listening }) => say({ worker: 'ready', pid, address: listening.address }));
}

async function letMarketTrade(task: WorkerTask, process: WorkerProcess, say: Say) {
  const { pid, terminal, interrupted } = process;
  const { config, clockAheadMs } = task;
  const { databaseUrl, dataDir } = config;
  const { openStore } = await import('../store/connection.ts');
  const log = logOf(task, process);
  const store = await openStore({ databaseUrl, dataDir, migrate: false, poolSize: task.poolSize, log: lineLog(log) });
  const sample = startLiveSample({ config, store, now: () => terminal.now() + clockAheadMs, log });
  say({ worker: 'ready', pid, address: null });
  await untilInterrupted({ ...terminal, interrupted: interrupted.signal });
  sample.begin?.();
  await closeAll([{ name: 'the store', close: () => store.close() }, sample], shutdownMs, () => performance.now());
}

type Say = (message: WorkerMessage) => void;

/**
 * Asks for a task and does it until told to stop, or until the process that gave it has ended: then too requests in flight finish and what is
 * counted is written. Returns whether it ended well.
 */
export async function runWorker(line: Line, process: WorkerProcess): Promise<boolean> {
  const say: Say = (message) => line.send(message);
  const stop = () => process.interrupted.abort();
  line.onLost(stop);
  const task = await new Promise<WorkerTask | null>((resolve) => {
    line.onMessage((message) => {
      if (!('order' in message)) return;
      if (message.order === 'work') resolve(message.task);
      else stop();
    });
    process.interrupted.signal.addEventListener('abort', () => resolve(null), { once: true });
    say({ worker: 'waiting' });
  });
  if (task === null) return true;
  try {
    if (task.role === 'gateway') await serve(task, line, process, say);
    else await letMarketTrade(task, process, say);
    return true;
  } catch (error) {
    say({ worker: 'failed', why: error instanceof Error ? error.message : String(error) });
    return false;
  }
}
