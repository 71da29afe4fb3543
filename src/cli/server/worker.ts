import { isAboutLimits, type LimitsAnswer, limitsByMessage } from '../../access/limits/limits-by-message.ts';
import type { Config } from '../../config/config.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { MemoryPlan } from '../../runtime/memory-plan.ts';
import type { CompiledContract } from '../../server.ts';
import type { Terminal } from '../io/terminal.ts';
import { logOf } from '../line-log.ts';
import { runGateway } from './gateway.ts';
import { loadGateway } from './load-gateway.ts';
import type { OrderMessage, WorkerMessage } from './pool-process.ts';

/** What a worker is to do. */
export interface WorkerTask {
  config: Config;
  /** How far the server's clock is ahead of the machine's, ms. */
  clockAheadMs: number;
  /** Show a bar once it has ended. */
  endedBarsOnly: boolean;
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

type Say = (message: WorkerMessage) => void;

/** Loads what a task needs and compiles what can be without it. */
async function prepare({ config }: WorkerTask): Promise<CompiledContract | undefined> {
  const { compileContract, loadArrow, loadPrisma } = await loadGateway();
  await loadArrow();
  await loadPrisma();
  // What is traced is compiled with its traces.
  return config.traces === null ? compileContract(config) : undefined;
}

async function serve(task: WorkerTask, contract: CompiledContract | undefined, line: Line, process: WorkerProcess) {
  const { pid, number, terminal, interrupted } = process;
  const { config, clockAheadMs, endedBarsOnly, key, poolSize, memory } = task;
  const limits = limitsByMessage(config.rates, line.send);
  line.onMessage((message) => isAboutLimits(message) && limits.hear(message));
  line.onLost(limits.lost);
  const clock: Clock = () => terminal.now() + clockAheadMs;
  const log = logOf(config, terminal.stderr).child({ worker: number });
  const whole = { ...terminal, interrupted: interrupted.signal };
  const worker = { limits, key, poolSize, contract };
  const say: Say = (message) => line.send(message);
  const gateway = { terminal: whole, config, options: {}, clock, endedBarsOnly, log, memory, worker };
  await runGateway(gateway, ({ listening }) => say({ worker: 'ready', pid, address: listening.address }));
}

/** What a worker was given: its task, and what was compiled for it ahead. */
interface Given {
  task: WorkerTask;
  contract: CompiledContract | undefined;
}

/** Says that this process waits, and prepares when ordered to; null = it is to end. */
function untilGiven(line: Line, { interrupted }: WorkerProcess): Promise<Given | null> {
  const say: Say = (message) => line.send(message);
  let contract: Promise<CompiledContract | undefined> = Promise.resolve(undefined);
  return new Promise((resolve, reject) => {
    const { signal } = interrupted;
    signal.addEventListener('abort', () => resolve(null), { once: true });
    if (signal.aborted) resolve(null);
    line.onMessage((message) => {
      if (!('order' in message)) return;
      const { order } = message;
      if (order === 'stop') interrupted.abort();
      else if (order === 'prepare') {
        contract = prepare(message.task);
        contract.then(() => say({ worker: 'prepared' }), reject);
      } else contract.then((compiled) => resolve({ task: message.task, contract: compiled }), reject);
    });
    say({ worker: 'waiting' });
  });
}

/**
 * Asks for a task and does it until stopped, or until the process that gave it has ended: then too requests in flight
 * finish and what is counted is written. Returns whether it ended well.
 */
export async function runWorker(line: Line, process: WorkerProcess): Promise<boolean> {
  line.onLost(() => process.interrupted.abort());
  try {
    const given = await untilGiven(line, process);
    if (given !== null) await serve(given.task, given.contract, line, process);
    return true;
  } catch (error) {
    line.send({ worker: 'failed', why: error instanceof Error ? error.message : String(error) });
    return false;
  }
}
