import cluster from 'node:cluster';
import type { LimitsServer } from '../../access/limits/limits-by-message.ts';
import { type AtWork, type PoolProcess, type ProcessEnd, startProcess } from './pool-process.ts';

/** A worker that served for less than this counts as one that ended as soon as it started, ms. */
const settledMs = 5_000;
/** After this many such ends in a row, with no worker left, the pool gives up. */
const mostQuickEnds = 5;
const shortestPauseMs = 100;
const longestPauseMs = 30_000;

/** Processes that serve for this one. */
export interface WorkerPool {
  /** The workers in the order of their tasks, once all serve. Rejects when one fails before. */
  ready: Promise<AtWork[]>;
  /** Never resolves; rejects when the workers end as soon as they start, again and again. */
  givenUp: Promise<never>;
  /** Asks all to end and waits for it; kills what is left after `atMostMs`. True when every one ended well. */
  stop(atMostMs: number): Promise<boolean>;
  /** Ends all at once. */
  kill(): void;
}

export interface PoolOptions<Task> {
  /** What a worker runs: a file. */
  program: string;
  /** Node's options for it, beside those of this process, which they win over. */
  options: readonly string[];
  /** A worker each. */
  tasks: readonly Task[];
  /** Whether a process is started ahead, to take the place of a worker that ends. */
  spare: boolean;
  limits: LimitsServer;
  /** Gets a line when a worker ends unasked; warnings begin with `warning:`. */
  log: (line: string) => void;
}

interface Member<Task> {
  task: Task;
  process: PoolProcess<Task> | null;
  /** Null = does not serve. */
  at: AtWork | null;
}

const pauseAfter = (quickEnds: number) => Math.min(longestPauseMs, shortestPauseMs * 2 ** Math.max(0, quickEnds - 1));

/**
 * A worker for each task, and one process more that has loaded its program and waits: the spare. When a worker ends
 * unexpectedly, the spare replaces it; the next spare is started when all serve again.
 */
class Pool<Task> implements WorkerPool {
  readonly #options: PoolOptions<Task>;
  readonly #members: Member<Task>[];
  readonly #processes = new Set<PoolProcess<Task>>();
  readonly #ready = Promise.withResolvers<AtWork[]>();
  readonly #givenUp = Promise.withResolvers<never>();
  readonly #left = Promise.withResolvers<void>();
  #spare: PoolProcess<Task> | null = null;
  #begun = false;
  #stopping = false;
  #endedWell = true;
  #quickEnds = 0;
  #quickSpareEnds = 0;

  constructor(options: PoolOptions<Task>) {
    this.#options = options;
    this.#members = options.tasks.map((task) => ({ task, process: null, at: null }));
    // Failures are met where these are awaited.
    for (const { promise } of [this.#ready, this.#givenUp]) promise.catch(() => {});
    for (const member of this.#members) this.#fill(member);
  }

  get ready() {
    return this.#ready.promise;
  }

  get givenUp() {
    return this.#givenUp.promise;
  }

  async stop(atMostMs: number): Promise<boolean> {
    this.#stopping = true;
    if (this.#processes.size === 0) return this.#endedWell;
    for (const process of this.#processes) process.stop();
    const impatience = setTimeout(() => this.kill(), atMostMs);
    await this.#left.promise;
    clearTimeout(impatience);
    return this.#endedWell;
  }

  kill(): void {
    this.#stopping = true;
    for (const process of this.#processes) process.kill();
  }

  #start(): PoolProcess<Task> {
    const { limits, log } = this.#options;
    const process: PoolProcess<Task> = startProcess({
      limits,
      log,
      onReady: (at) => this.#serves(process, at),
      onEnd: (end) => this.#ended(process, end),
    });
    this.#processes.add(process);
    return process;
  }

  /** Gives a member's task to the spare, or to a new process where there is none. */
  #fill(member: Member<Task>): void {
    if (this.#stopping) return;
    const process = this.#spare ?? this.#start();
    this.#spare = null;
    member.process = process;
    process.work(member.task);
  }

  #serves(process: PoolProcess<Task>, at: AtWork): void {
    const member = this.#members.find((each) => each.process === process)!;
    member.at = at;
    if (this.#begun) this.#options.log(`worker process ${at.pid} replaces it`);
    if (this.#members.some((each) => each.at === null)) return;
    this.#begun = true;
    this.#ready.resolve(this.#members.map((each) => each.at!));
    this.#startSpare();
  }

  // Not while a worker begins, which it would slow.
  #startSpare(): void {
    if (!this.#options.spare || this.#stopping || this.#spare !== null) return;
    if (this.#members.some((each) => each.at === null)) return;
    this.#spare = this.#start();
    this.#spare.prepare(this.#members[0]!.task);
  }

  #ended(process: PoolProcess<Task>, end: ProcessEnd): void {
    this.#processes.delete(process);
    if (this.#stopping) {
      if (end.hadTask) this.#endedWell &&= end.well;
      if (this.#processes.size === 0) this.#left.resolve();
    } else if (process === this.#spare) this.#spareEnded(end);
    else this.#memberEnded(this.#members.find((each) => each.process === process)!, end);
  }

  #spareEnded({ livedMs, how }: ProcessEnd): void {
    this.#spare = null;
    this.#quickSpareEnds = livedMs < settledMs ? this.#quickSpareEnds + 1 : 0;
    this.#options.log(`warning: ${how}; it was the spare; another one is started`);
    setTimeout(() => this.#startSpare(), pauseAfter(this.#quickSpareEnds)).unref();
  }

  #memberEnded(member: Member<Task>, { servedMs, well, how }: ProcessEnd): void {
    member.process = null;
    member.at = null;
    if (!this.#begun) {
      this.#ready.reject(new Error(how));
      return;
    }
    this.#quickEnds = servedMs < settledMs ? this.#quickEnds + 1 : 0;
    if (this.#quickEnds >= mostQuickEnds && this.#members.every((each) => each.at === null)) {
      this.#givenUp.reject(new Error(`the workers end as soon as they start: ${how}`));
      return;
    }
    this.#options.log(`${well ? '' : 'warning: '}${how}; it is replaced`);
    if (this.#quickEnds === 0) this.#fill(member);
    else setTimeout(() => this.#fill(member), pauseAfter(this.#quickEnds));
  }
}

/** Starts a worker for each task and replaces one that ends unexpectedly: at once, then after pauses that double. */
export function startWorkerPool<Task>(options: PoolOptions<Task>): WorkerPool {
  // Each takes connections from the system itself. Handed out by this process, one on its way to a worker that is
  // killed would hang for ever.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({ exec: options.program, args: [], execArgv: [...process.execArgv, ...options.options] });
  return new Pool(options);
}
