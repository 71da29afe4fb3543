import cluster from 'node:cluster';
import type { AddressInfo } from 'node:net';
import type { LimitsServer } from '../../access/limits/limits-by-message.ts';
import { type BoundSocket, PoolProcess, type ProcessEnd } from './pool-process.ts';

/** A worker that served for less than this counts as one that ended right after its start, ms. */
const settledMs = 5_000;
/** Number of such ends in a row, with no worker left, after which the pool gives up. */
const mostQuickEnds = 5;
const shortestPauseMs = 100;
const longestPauseMs = 30_000;

/** A serving worker, and its address. */
export interface AtWork {
  pid: number;
  address: AddressInfo;
}

/** End of a pool. */
export interface PoolEnd {
  /** True if every worker ended when asked to. */
  cleanly: boolean;
  /** True if a worker was killed or aborted since the start: its resources may be left behind. */
  anyAborted: boolean;
}

/** Processes that serve for this one. `Found` is what the first of them, the lead, found when it prepared the store. */
export interface WorkerPool<Task, Found> {
  /** The workers in order, once all serve. Rejects when one reports a failure. */
  ready: Promise<{ workers: AtWork[]; found: Found }>;
  /** Never resolves. Rejects when the workers repeatedly end right after their start. */
  givenUp: Promise<never>;
  /** Changes the task of all that work. Resolves with the reason for which one did not; null = all did. */
  change(change: Partial<Task>): Promise<string | null>;
  /** Asks all to end and waits for it. Kills the rest after `atMostMs`. */
  stop(atMostMs: number): Promise<PoolEnd>;
  /** Makes all end immediately, and kills the rest after `atMostMs`. */
  end(atMostMs: number): Promise<void>;
}

/** Parts of a pool. */
export interface PoolOptions<Task, Found> {
  /** File that a worker runs. */
  program: string;
  /** Node's options for it. They override those of this process. */
  options: readonly string[];
  count: number;
  /** The task of a worker; `found` = null for the first lead, which prepares the store before any other starts. */
  taskOf: (index: number, found: Found | null) => Task;
  /** The socket on which the workers listen, which stays open while one is replaced; null = they open their own. */
  socket: BoundSocket | null;
  /** True if a process is started ahead, to replace a worker that ends. */
  spare: boolean;
  limits: LimitsServer;
  /** Called with a line to log when a worker ends unexpectedly; warnings begin with `warning:`. */
  log: (line: string) => void;
}

interface Member<Task, Found> {
  index: number;
  process: PoolProcess<Task, Found> | null;
  /** Null = does not listen. */
  address: AddressInfo | null;
  /** True if it has data to answer with. */
  isReady: boolean;
}

const pauseAfter = (quickEnds: number) => Math.min(longestPauseMs, shortestPauseMs * 2 ** Math.max(0, quickEnds - 1));

/**
 * Some workers and, with `spare`, one more process that has loaded its program and waits. When a worker ends
 * unexpectedly, the spare, or a new process, replaces it; the next spare is started when all serve again.
 */
class Pool<Task, Found> implements WorkerPool<Task, Found> {
  readonly #options: PoolOptions<Task, Found>;
  readonly #members: Member<Task, Found>[];
  readonly #processes = new Set<PoolProcess<Task, Found>>();
  readonly #ready = Promise.withResolvers<{ workers: AtWork[]; found: Found }>();
  readonly #givenUp = Promise.withResolvers<never>();
  readonly #left = Promise.withResolvers<void>();
  readonly #pauses = new Set<NodeJS.Timeout>();
  #spare: PoolProcess<Task, Found> | null = null;
  #found: Found | null = null;
  #begun = false;
  #stopping = false;
  #cleanly = true;
  #anyAborted = false;
  #quickEnds = 0;
  #quickSpareEnds = 0;

  constructor(options: PoolOptions<Task, Found>) {
    this.#options = options;
    this.#members = Array.from({ length: options.count }, (_, index) => ({
      index,
      process: null,
      address: null,
      isReady: false,
    }));
    // Failures are handled where these are awaited.
    for (const { promise } of [this.#ready, this.#givenUp]) promise.catch(() => {});
    for (const member of this.#members) this.#fill(member);
  }

  get ready() {
    return this.#ready.promise;
  }

  get givenUp() {
    return this.#givenUp.promise;
  }

  async change(change: Partial<Task>): Promise<string | null> {
    // One that has not got its task yet gets the changed one.
    const working = this.#members.flatMap(({ process }) => (process?.hasTask ? [process] : []));
    const problems = await Promise.all(working.map((process) => process.change(change)));
    return problems.find((problem) => problem !== null) ?? null;
  }

  async stop(atMostMs: number): Promise<PoolEnd> {
    this.#beginToStop();
    for (const process of this.#processes) process.stop();
    await this.#leaveWithin(atMostMs);
    return { cleanly: this.#cleanly, anyAborted: this.#anyAborted };
  }

  async end(atMostMs: number): Promise<void> {
    this.#beginToStop();
    for (const process of this.#processes) process.end();
    await this.#leaveWithin(atMostMs);
  }

  #beginToStop(): void {
    this.#stopping = true;
    for (const pause of this.#pauses) clearTimeout(pause);
    // From now on only the workers hold the socket, and close it.
    this.#options.socket?.close();
  }

  async #leaveWithin(ms: number): Promise<void> {
    if (this.#processes.size === 0) return;
    const impatience = setTimeout(() => {
      for (const process of this.#processes) process.kill();
    }, ms);
    await this.#left.promise;
    clearTimeout(impatience);
  }

  #after(ms: number, action: () => void): void {
    const pause = setTimeout(() => {
      this.#pauses.delete(pause);
      action();
    }, ms);
    this.#pauses.add(pause);
  }

  #start(): PoolProcess<Task, Found> {
    const { limits, log } = this.#options;
    const process: PoolProcess<Task, Found> = new PoolProcess<Task, Found>({
      limits,
      log,
      onPrepared: () => {
        if (process === this.#spare) log(`worker process ${process.pid} is ready as the spare`);
      },
      onListening: (address, found) => this.#listens(this.#memberOf(process), address, found),
      onReady: () => this.#serves(this.#memberOf(process)),
      onEnd: (end) => this.#ended(process, end),
    });
    this.#processes.add(process);
    return process;
  }

  #memberOf(process: PoolProcess<Task, Found>): Member<Task, Found> {
    return this.#members.find((each) => each.process === process)!;
  }

  /** Gives a member's task to the spare, or to a new process where there is none. */
  #fill(member: Member<Task, Found>): void {
    if (this.#stopping) return;
    member.process = this.#spare ?? this.#start();
    this.#spare = null;
    if (member.index === 0 || this.#found !== null) this.#giveTask(member);
    else member.process.prepare(this.#options.taskOf(member.index, null));
  }

  #giveTask({ process, index }: Member<Task, Found>): void {
    const { taskOf, socket } = this.#options;
    process?.work(taskOf(index, this.#found), socket);
  }

  #listens(member: Member<Task, Found>, address: AddressInfo, found: Found): void {
    member.address = address;
    if (member.index !== 0) return;
    const isFirst = this.#found === null;
    this.#found = found;
    // The store is prepared: the waiting workers start.
    if (isFirst) for (const other of this.#members.slice(1)) this.#giveTask(other);
  }

  #serves(member: Member<Task, Found>): void {
    member.isReady = true;
    if (this.#begun) this.#options.log(`worker process ${member.process!.pid} replaces it`);
    if (this.#members.some(({ isReady }) => !isReady)) return;
    this.#begun = true;
    const workers = this.#members.map(({ process, address }) => ({ pid: process!.pid, address: address! }));
    this.#ready.resolve({ workers, found: this.#found! });
    this.#startSpare();
  }

  // Not while a worker starts, because it would slow that down.
  #startSpare(): void {
    const { spare, taskOf } = this.#options;
    if (!spare || this.#stopping || this.#spare !== null) return;
    if (this.#members.some(({ isReady }) => !isReady)) return;
    this.#spare = this.#start();
    this.#spare.prepare(taskOf(0, this.#found));
  }

  #ended(process: PoolProcess<Task, Found>, end: ProcessEnd): void {
    this.#processes.delete(process);
    if (end.hadTask && !end.well && end.failure === null) this.#anyAborted = true;
    if (this.#stopping) {
      if (end.hadTask) this.#cleanly &&= end.well;
      if (this.#processes.size === 0) this.#left.resolve();
    } else if (process === this.#spare) this.#spareEnded(end);
    else this.#memberEnded(this.#memberOf(process), end);
  }

  #spareEnded({ livedMs, how }: ProcessEnd): void {
    this.#spare = null;
    this.#quickSpareEnds = livedMs < settledMs ? this.#quickSpareEnds + 1 : 0;
    this.#options.log(`warning: ${how}; it was the spare; another one is started`);
    this.#after(pauseAfter(this.#quickSpareEnds), () => this.#startSpare());
  }

  #memberEnded(member: Member<Task, Found>, { servedMs, well, how, failure }: ProcessEnd): void {
    Object.assign(member, { process: null, address: null, isReady: false });
    if (!this.#begun && failure !== null) {
      this.#ready.reject(failure);
      return;
    }
    this.#quickEnds = servedMs < settledMs ? this.#quickEnds + 1 : 0;
    if (this.#quickEnds >= mostQuickEnds && this.#members.every(({ address }) => address === null)) {
      this.#givenUp.reject(new Error(`the workers end as soon as they start: ${how}`));
      return;
    }
    this.#options.log(`${well ? '' : 'warning: '}${how}; it is replaced`);
    if (this.#quickEnds === 0) this.#fill(member);
    else this.#after(pauseAfter(this.#quickEnds), () => this.#fill(member));
  }
}

/**
 * Starts workers and replaces one that ends unexpectedly: immediately the first time, then after pauses that double.
 */
export function startWorkerPool<Task, Found>(options: PoolOptions<Task, Found>): WorkerPool<Task, Found> {
  // Each worker accepts connections itself. If this process handed them out, one in transit to a worker that is killed
  // would hang forever.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({ exec: options.program, args: [], execArgv: [...process.execArgv, ...options.options] });
  return new Pool(options);
}
