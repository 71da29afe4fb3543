import { isAboutLimits, type LimitsAnswer, limitsByMessage } from '../../access/limits/limits-by-message.ts';
import { type Config, secretsOf } from '../../config.ts';
import { openLog } from '../../observe/log.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { MemoryPlan } from '../../runtime/memory-plan.ts';
import type { Terminal } from '../io/terminal.ts';
import { runGateway } from './gateway.ts';
import type { OrderMessage, WorkerMessage } from './worker-pool.ts';

/** What a worker is to do. */
export interface WorkerTask {
  config: Config;
  /** How far the server's clock is ahead of the machine's, ms. */
  clockAheadMs: number;
  /** The sample market's key; null without one. */
  key: string | null;
  /** Database connections at most. */
  poolSize: number;
  memory: MemoryPlan;
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
  const { config, clockAheadMs, key, poolSize, memory } = task;
  const limits = limitsByMessage(config.rates, line.send);
  line.onMessage((message) => isAboutLimits(message) && limits.hear(message));
  line.onLost(limits.lost);
  const clock: Clock = () => terminal.now() + clockAheadMs;
  const log = logOf(task, process);
  const whole = { ...terminal, interrupted: interrupted.signal };
  const gateway = { terminal: whole, config, options: {}, clock, log, memory, crew: { limits, key, poolSize } };
  await runGateway(gateway, ({ listening }) => say({ worker: 'ready', pid, address: listening.address }));
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
    await serve(task, line, process, say);
    return true;
  } catch (error) {
    say({ worker: 'failed', why: error instanceof Error ? error.message : String(error) });
    return false;
  }
}
