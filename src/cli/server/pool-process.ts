import type { SendHandle } from 'node:child_process';
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { isAboutLimits, type LimitsQuestion, type LimitsServer } from '../../access/limits/limits-messages.ts';

/** Time in which the last message of a process that has ended arrives, ms. */
const lastMessageMs = 500;

/**
 * Messages of a worker: it waits for its task, is prepared for it, listens (with what the other workers must know of
 * what it found), has something to answer with, or why it could not go on.
 */
export type WorkerMessage<Found> =
  | { worker: 'waiting' }
  | { worker: 'prepared' }
  | { worker: 'listening'; address: AddressInfo; found: Found }
  | { worker: 'ready' }
  | { worker: 'failed'; why: string; stack: string | undefined };

/**
 * Messages to a worker: a task like the one it will get, to prepare for it; its task; to end what it does and leave; or
 * to end at once.
 */
export type OrderMessage<Task> = { order: 'prepare' | 'work'; task: Task } | { order: 'stop' } | { order: 'end' };

/** A socket that is bound to the port: a handle that Node passes between processes. */
export type BoundSocket = SendHandle & { close(): void };

/** End of a process of the pool. */
export interface ProcessEnd {
  /** For the log: why, or by what code or signal. */
  how: string;
  /** Why it could not go on, if it said so. */
  failure: Error | null;
  well: boolean;
  hadTask: boolean;
  /** For how long it ran, ms. */
  livedMs: number;
  /** For how long it listened, ms; 0 = it never did. */
  servedMs: number;
}

/** A process of the pool. It reads messages as soon as it waits for a task. */
export interface PoolProcess<Task> {
  pid: number;
  /** Loads the modules of such a task in the process. */
  prepare(task: Task): void;
  /** Gives it its task and, if there is one, the socket to listen on. */
  work(task: Task, socket: BoundSocket | null): void;
  /** Asks it to end; one that has not got its task yet holds nothing and is killed. */
  stop(): void;
  /** Has it end at once, its requests cut off. */
  end(): void;
  kill(): void;
}

interface ProcessParts<Found> {
  limits: LimitsServer;
  /** Gets a line when something is remarkable; warnings begin with `warning:`. */
  log: (line: string) => void;
  onPrepared: () => void;
  onListening: (address: AddressInfo, found: Found) => void;
  onReady: () => void;
  onEnd: (end: ProcessEnd) => void;
}

/** The usual reason for a signal that nobody sent on purpose. */
const usualReasons: Partial<Record<string, string>> = {
  SIGABRT: ', as when its heap is full (MEMORY_LIMIT)',
  SIGKILL: ', as when the system or the container has no memory left',
};

function send(worker: Worker, message: object, socket?: BoundSocket | null): void {
  // One that ends just now needs no answer any more.
  if (worker.isConnected()) worker.send(message, socket ?? undefined, undefined, () => {});
}

/** Starts a process of the pool. */
export function startProcess<Task, Found>(parts: ProcessParts<Found>): PoolProcess<Task> {
  const { limits, log, onPrepared, onListening, onReady, onEnd } = parts;
  const worker = cluster.fork();
  const { id } = worker;
  const { pid } = worker.process;
  const startedAt = performance.now();
  let listeningAt: number | null = null;
  let failure: Error | null = null;
  let hadTask = false;
  /** Messages that are sent once it waits; null = it waits. */
  let unsent: (() => void)[] | null = [];
  const order = (message: OrderMessage<Task>, socket?: BoundSocket | null) => {
    if (unsent === null) send(worker, message, socket);
    else unsent.push(() => send(worker, message, socket));
  };

  worker.on('message', (message: WorkerMessage<Found> | LimitsQuestion) => {
    if (isAboutLimits(message)) void limits.answer(id, message, (answer) => send(worker, answer));
    else if (message.worker === 'waiting') {
      for (const sending of unsent ?? []) sending();
      unsent = null;
    } else if (message.worker === 'prepared') onPrepared();
    else if (message.worker === 'failed') {
      failure = Object.assign(new Error(message.why), { stack: message.stack });
    } else if (message.worker === 'listening') {
      listeningAt = performance.now();
      onListening(message.address, message.found);
    } else onReady();
  });
  worker.on('error', (error) => log(`warning: a worker cannot be reached: ${error.message}`));
  worker.on('exit', async (code: number | null, signal: string | null) => {
    const endedAt = performance.now();
    const servedMs = listeningAt === null ? 0 : endedAt - listeningAt;
    // One that ended by itself may have said why.
    if (signal === null && worker.isConnected()) await Promise.race([once(worker, 'disconnect'), delay(lastMessageMs)]);
    limits.forget(id);
    const end = signal === null ? `ended with code ${code}` : `was ended by ${signal}${usualReasons[signal] ?? ''}`;
    const how = failure?.message ?? `worker process ${pid} ${end}`;
    onEnd({ how, failure, well: code === 0, hadTask: hasTask(), livedMs: endedAt - startedAt, servedMs });
  });

  const kill = () => void worker.process.kill('SIGKILL');
  const hasTask = () => hadTask && unsent === null;
  const leave = (how: 'stop' | 'end') => (hasTask() ? order({ order: how }) : kill());
  return {
    pid: pid!,
    prepare: (task) => order({ order: 'prepare', task }),
    work(task, socket) {
      hadTask = true;
      order({ order: 'work', task }, socket);
    },
    stop: () => leave('stop'),
    end: () => leave('end'),
    kill,
  };
}
