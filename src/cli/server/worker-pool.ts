import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { isAboutLimits, type LimitsKeeper, type LimitsQuestion } from '../../access/limits/limits-by-message.ts';

/** A worker that served for less than this ended as soon as it had started, ms. */
const settledMs = 5_000;
/** So many such ends in a row, with nobody left, and the crew is given up. */
const mostQuickEnds = 5;
const shortestPauseMs = 100;
const longestPauseMs = 30_000;
const lastWordsMs = 500;

/** A worker that is at work, and where it listens. */
export interface AtWork {
  pid: number;
  address: AddressInfo;
}

/** What a worker says of itself: it waits for its task, it is at work, or why it could not begin. */
export type WorkerMessage = { worker: 'waiting' } | ({ worker: 'ready' } & AtWork) | { worker: 'failed'; why: string };

/** What a worker is told: its task, or to end what it does and leave. */
export type OrderMessage<Task> = { order: 'work'; task: Task } | { order: 'stop' };

/** Processes that work for this one. */
export interface Crew {
  /** The workers in the order of their tasks, once all are at work. Rejects when one fails before. */
  ready: Promise<AtWork[]>;
  /** Never resolves; rejects when the workers end as soon as they start, again and again. */
  givenUp: Promise<never>;
  /** Asks all to end and waits for it; kills what is left after `atMostMs`. True when every one ended well. */
  stop(atMostMs: number): Promise<boolean>;
}

export interface CrewOptions<Task> {
  /** What a worker runs: a file. */
  program: string;
  /** Node's options for it, beside those of this process, which they win over. */
  options: readonly string[];
  /** A worker each. */
  tasks: readonly Task[];
  limits: LimitsKeeper;
  /** Gets a line when a worker ends unasked; warnings begin with `warning:`. */
  log: (line: string) => void;
}

interface Member<Task> {
  task: Task;
  worker: Worker | null;
  /** Null = not at work. */
  at: AtWork | null;
}

function tell<Task>(worker: Worker, message: OrderMessage<Task> | object): void {
  // One that ends just now needs no answer any more.
  if (worker.isConnected()) worker.send(message, () => {});
}

const pauseAfter = (quickEnds: number) => Math.min(longestPauseMs, shortestPauseMs * 2 ** Math.max(0, quickEnds - 1));

/** Starts a worker for each task and, when one ends unasked, another in its place: at once, then after pauses that double. */
export function startCrew<Task>({ program, options, tasks, limits, log }: CrewOptions<Task>): Crew {
  // Each takes connections from the system itself. Handed out by this process, one on its way to a worker that is killed would hang for ever.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({ exec: program, args: [], execArgv: [...process.execArgv, ...options] });
  const members = tasks.map((task): Member<Task> => ({ task, worker: null, at: null }));
  const ready = Promise.withResolvers<AtWork[]>();
  const givenUp = Promise.withResolvers<never>();
  const left = Promise.withResolvers<void>();
  // Failures are met where these are awaited.
  for (const { promise } of [ready, givenUp]) promise.catch(() => {});
  let begun = false;
  let stopping = false;
  let endedWell = true;
  let quickEnds = 0;

  function onReady(member: Member<Task>, at: AtWork): void {
    member.at = at;
    if (begun || members.some((each) => each.at === null)) return;
    begun = true;
    ready.resolve(members.map((each) => each.at!));
  }

  function onEnd(member: Member<Task>, livedMs: number, well: boolean, how: string): void {
    member.worker = null;
    member.at = null;
    if (stopping) {
      endedWell &&= well;
      if (members.every((each) => each.worker === null)) left.resolve();
      return;
    }
    if (!begun) {
      ready.reject(new Error(how));
      return;
    }
    quickEnds = livedMs < settledMs ? quickEnds + 1 : 0;
    if (quickEnds >= mostQuickEnds && members.every((each) => each.at === null)) {
      givenUp.reject(new Error(`the workers end as soon as they start: ${how}`));
      return;
    }
    log(`${well ? '' : 'warning: '}${how}; another takes its place`);
    setTimeout(() => stopping || start(member), quickEnds === 0 ? 0 : pauseAfter(quickEnds));
  }

  function start(member: Member<Task>): void {
    const worker = cluster.fork();
    const { id } = worker;
    let readyAt: number | null = null;
    let why: string | null = null;
    member.worker = worker;
    worker.on('message', (message: WorkerMessage | LimitsQuestion) => {
      if (isAboutLimits(message)) void limits.answer(id, message, (answer) => tell(worker, answer));
      else if (message.worker === 'waiting') tell(worker, { order: 'work', task: member.task });
      else if (message.worker === 'failed') why = message.why;
      else {
        readyAt = performance.now();
        onReady(member, { pid: message.pid, address: message.address });
      }
    });
    worker.on('error', (error) => log(`warning: a worker cannot be reached: ${error.message}`));
    worker.on('exit', async (code: number | null, signal: string | null) => {
      // What it said last may arrive after its end.
      if (worker.isConnected()) await Promise.race([once(worker, 'disconnect'), delay(lastWordsMs)]);
      limits.forget(id);
      const livedMs = readyAt === null ? 0 : performance.now() - readyAt;
      const end = signal === null ? `ended with code ${code}` : `was ended by ${signal}`;
      onEnd(member, livedMs, code === 0, why ?? `worker process ${worker.process.pid} ${end}`);
    });
  }

  for (const member of members) start(member);
  const running = () => members.flatMap(({ worker }) => worker ?? []);
  return {
    ready: ready.promise,
    givenUp: givenUp.promise,
    async stop(atMostMs) {
      stopping = true;
      if (running().length === 0) return endedWell;
      for (const worker of running()) tell(worker, { order: 'stop' });
      const impatience = setTimeout(() => {
        for (const worker of running()) worker.process.kill('SIGKILL');
      }, atMostMs);
      await left.promise;
      clearTimeout(impatience);
      return endedWell;
    },
  };
}
