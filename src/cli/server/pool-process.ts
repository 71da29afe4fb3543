import type { SendHandle } from 'node:child_process';
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { isAboutLimits, type LimitsQuestion, type LimitsServer } from '../../access/limits/limits-by-message.ts';

/** Time for the last message of a process to arrive after its end, ms. */
const lastMessageMs = 500;

/**
 * Messages of a worker: it waits for its task, is prepared for it, listens (with the findings that the other workers
 * require), has data to answer with, made a change or says why it did not, or failed for a reason.
 */
export type WorkerMessage<Found> =
  | { worker: 'waiting' }
  | { worker: 'prepared' }
  | { worker: 'listening'; address: AddressInfo; found: Found }
  | { worker: 'ready' }
  | { worker: 'changed'; problem: string | null }
  | { worker: 'failed'; why: string; stack: string | undefined };

/**
 * Messages to a worker: a similar task to prepare for; its task; a change of its task while it works; to finish its
 * work and end; or to end immediately.
 */
export type OrderMessage<Task> =
  | { order: 'prepare' | 'work'; task: Task }
  | { order: 'change'; change: Partial<Task> }
  | { order: 'stop' }
  | { order: 'end' };

/** A socket bound to the port: a handle that Node passes between processes. */
export type BoundSocket = SendHandle & { close(): void };

/** End of a process of the pool. */
export interface ProcessEnd {
  /** Reason, exit code or signal, for the log. */
  how: string;
  /** The failure that it reported, if any. */
  failure: Error | null;
  well: boolean;
  hadTask: boolean;
  /** Time for which it ran, ms. */
  livedMs: number;
  /** Time for which it listened, ms; 0 = never. */
  servedMs: number;
}

interface ProcessParts<Found> {
  limits: LimitsServer;
  /** Called with a line to log; warnings begin with `warning:`. */
  log: (line: string) => void;
  onPrepared: () => void;
  onListening: (address: AddressInfo, found: Found) => void;
  onReady: () => void;
  onEnd: (end: ProcessEnd) => void;
}

/** The usual reason for a signal that was not sent on purpose. */
const usualReasons: Partial<Record<string, string>> = {
  SIGABRT: ', as when its heap is full (MEMORY_LIMIT)',
  SIGKILL: ', as when the system or the container has no memory left',
};

function send(worker: Worker, message: object, socket?: BoundSocket | null): void {
  // A process that is ending requires no answer.
  if (worker.isConnected()) worker.send(message, socket ?? undefined, undefined, () => {});
}

/** A process of the pool. It reads messages as soon as it waits for a task. */
export class PoolProcess<Task, Found> {
  readonly pid: number;
  readonly #parts: ProcessParts<Found>;
  readonly #worker: Worker;
  readonly #startedAt = performance.now();
  /** When it began to listen; null = it has not. */
  #listeningAt: number | null = null;
  #failure: Error | null = null;
  #isGivenTask = false;
  /** Changes that it has not answered yet, in the order in which they were sent. */
  readonly #changes: ((problem: string | null) => void)[] = [];
  /** Messages that are sent once it waits; null = it waits. */
  #unsent: (() => void)[] | null = [];

  /** Starts it. */
  constructor(parts: ProcessParts<Found>) {
    this.#parts = parts;
    const worker = cluster.fork();
    this.#worker = worker;
    this.pid = worker.process.pid!;
    worker.on('message', (message: WorkerMessage<Found> | LimitsQuestion) => this.#onMessage(message));
    worker.on('error', (error) => parts.log(`warning: a worker cannot be reached: ${error.message}`));
    worker.on('exit', (code: number | null, signal: string | null) => this.#onExit(code, signal));
  }

  /** Loads the modules of such a task in the process. */
  prepare(task: Task): void {
    this.#order({ order: 'prepare', task });
  }

  /** Gives it its task and, if there is one, the socket to listen on. */
  work(task: Task, socket: BoundSocket | null): void {
    this.#isGivenTask = true;
    this.#order({ order: 'work', task }, socket);
  }

  /** Changes its task. Resolves with the reason for which it did not, null = it did, or has ended. */
  change(change: Partial<Task>): Promise<string | null> {
    if (!this.#worker.isConnected()) return Promise.resolve(null);
    this.#order({ order: 'change', change });
    return new Promise((resolve) => void this.#changes.push(resolve));
  }

  /** Asks it to end; one that has not got its task yet holds nothing and is killed. */
  stop(): void {
    if (this.hasTask) this.#order({ order: 'stop' });
    else this.kill();
  }

  /** Has it end at once, its requests cut off. */
  end(): void {
    if (this.hasTask) this.#order({ order: 'end' });
    else this.kill();
  }

  kill(): void {
    this.#worker.process.kill('SIGKILL');
  }

  /** True if it got its task: one that does not wait yet has not. */
  get hasTask(): boolean {
    return this.#isGivenTask && this.#unsent === null;
  }

  #order(message: OrderMessage<Task>, socket?: BoundSocket | null): void {
    if (this.#unsent === null) send(this.#worker, message, socket);
    else this.#unsent.push(() => send(this.#worker, message, socket));
  }

  #onMessage(message: WorkerMessage<Found> | LimitsQuestion): void {
    const { limits, onPrepared, onListening, onReady } = this.#parts;
    if (isAboutLimits(message)) {
      void limits.answer(this.#worker.id, message, (answer) => send(this.#worker, answer));
    } else if (message.worker === 'waiting') {
      for (const sending of this.#unsent ?? []) sending();
      this.#unsent = null;
    } else if (message.worker === 'prepared') onPrepared();
    else if (message.worker === 'failed') {
      this.#failure = Object.assign(new Error(message.why), { stack: message.stack });
    } else if (message.worker === 'listening') {
      this.#listeningAt = performance.now();
      onListening(message.address, message.found);
    } else if (message.worker === 'changed') this.#changes.shift()?.(message.problem);
    else onReady();
  }

  async #onExit(code: number | null, signal: string | null): Promise<void> {
    const endedAt = performance.now();
    const worker = this.#worker;
    // One that ended by itself may have said why.
    if (signal === null && worker.isConnected()) await Promise.race([once(worker, 'disconnect'), delay(lastMessageMs)]);
    this.#parts.limits.forget(worker.id);
    for (const resolve of this.#changes.splice(0)) resolve(null);
    const end = signal === null ? `ended with code ${code}` : `was ended by ${signal}${usualReasons[signal] ?? ''}`;
    this.#parts.onEnd({
      how: this.#failure?.message ?? `worker process ${this.pid} ${end}`,
      failure: this.#failure,
      well: code === 0,
      hadTask: this.hasTask,
      livedMs: endedAt - this.#startedAt,
      servedMs: this.#listeningAt === null ? 0 : endedAt - this.#listeningAt,
    });
  }
}
