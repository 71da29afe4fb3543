import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { isAboutLimits, type LimitsQuestion, type LimitsServer } from '../../access/limits/limits-by-message.ts';

/** What the last message of a process that has ended may take to arrive, ms. */
const lastMessageMs = 500;

/** A worker that serves, and where it listens. */
export interface AtWork {
  pid: number;
  address: AddressInfo;
}

/** What a worker says of itself: it waits for its task, is prepared for it, serves, or why it could not begin. */
export type WorkerMessage =
  | { worker: 'waiting' }
  | { worker: 'prepared' }
  | ({ worker: 'ready' } & AtWork)
  | { worker: 'failed'; why: string };

/**
 * What a worker is sent: a task like the one it will get, to prepare for it; its task; or to end what it does and
 * leave.
 */
export type OrderMessage<Task> = { order: 'prepare' | 'work'; task: Task } | { order: 'stop' };

/** How a process of the pool ended. */
export interface ProcessEnd {
  /** For the log: why, or by what code or signal. */
  how: string;
  well: boolean;
  hadTask: boolean;
  /** For how long it ran, ms. */
  livedMs: number;
  /** For how long it served, ms; 0 = it never did. */
  servedMs: number;
}

/** A process of the pool. It reads messages as soon as it waits for a task. */
export interface PoolProcess<Task> {
  /** Has it load what a task like this needs. */
  prepare(task: Task): void;
  work(task: Task): void;
  /** Asks it to end; without a task, it holds nothing and is killed. */
  stop(): void;
  kill(): void;
}

interface ProcessParts {
  limits: LimitsServer;
  /** Gets a line when something is remarkable; warnings begin with `warning:`. */
  log: (line: string) => void;
  onReady: (at: AtWork) => void;
  onEnd: (end: ProcessEnd) => void;
}

function send(worker: Worker, message: object): void {
  // One that ends just now needs no answer any more.
  if (worker.isConnected()) worker.send(message, () => {});
}

/** Starts a process of the pool. */
export function startProcess<Task>({ limits, log, onReady, onEnd }: ProcessParts): PoolProcess<Task> {
  const worker = cluster.fork();
  const { id } = worker;
  const { pid } = worker.process;
  const startedAt = performance.now();
  let readyAt: number | null = null;
  let why: string | null = null;
  let hadTask = false;
  /** What it is sent once it waits; null = it waits. */
  let unsent: OrderMessage<Task>[] | null = [];
  const order = (message: OrderMessage<Task>) => {
    if (unsent === null) send(worker, message);
    else unsent.push(message);
  };

  worker.on('message', (message: WorkerMessage | LimitsQuestion) => {
    if (isAboutLimits(message)) void limits.answer(id, message, (answer) => send(worker, answer));
    else if (message.worker === 'waiting') {
      for (const each of unsent ?? []) send(worker, each);
      unsent = null;
    } else if (message.worker === 'prepared') {
      if (!hadTask) log(`worker process ${pid} is ready as the spare`);
    } else if (message.worker === 'failed') why = message.why;
    else {
      readyAt = performance.now();
      onReady({ pid: message.pid, address: message.address });
    }
  });
  worker.on('error', (error) => log(`warning: a worker cannot be reached: ${error.message}`));
  worker.on('exit', async (code: number | null, signal: string | null) => {
    const endedAt = performance.now();
    const servedMs = readyAt === null ? 0 : endedAt - readyAt;
    // One that ended by itself may have said why.
    if (signal === null && worker.isConnected()) await Promise.race([once(worker, 'disconnect'), delay(lastMessageMs)]);
    limits.forget(id);
    const end = signal === null ? `ended with code ${code}` : `was ended by ${signal}`;
    const how = why ?? `worker process ${pid} ${end}`;
    onEnd({ how, well: code === 0, hadTask, livedMs: endedAt - startedAt, servedMs });
  });

  return {
    prepare: (task) => order({ order: 'prepare', task }),
    work(task) {
      hadTask = true;
      order({ order: 'work', task });
    },
    stop() {
      if (hadTask) order({ order: 'stop' });
      else worker.process.kill('SIGKILL');
    },
    kill: () => void worker.process.kill('SIGKILL'),
  };
}
