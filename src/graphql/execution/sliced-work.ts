/** Limits of work in time slices. */
export interface PieceLimits {
  /** Characters that it may write. */
  characters: number;
  /** Maximum processing time, ms, without the time it waits in the queue. */
  ms: number;
}

/** Thrown when work exceeds its limit of characters or time. */
export class OverLimit extends Error {
  override readonly name = 'OverLimit';
  readonly limit: keyof PieceLimits;

  constructor(limit: keyof PieceLimits) {
    super(`Over the limit of ${limit}.`);
    this.limit = limit;
  }
}

/** Dependencies of work in time slices. */
export interface PieceParts {
  /** Resolves when a slice may run; rejects when the work is cancelled. */
  turn: () => Promise<void>;
  /** Resolves when no piece of the same request waits for its turn; null = none does. */
  turns?: () => Promise<void> | null;
  limits: PieceLimits;
  /** Processing time, ms, before slices queue; 0 by default. */
  lightMs?: number;
  /** Monotonic, ms. */
  now: () => number;
}

/** Length of a slice, ms. */
const pieceMs = 1;

/** Maximum number of list items that are awaited at a depth or deeper, before the lists there go on. */
const mostAwaited = 5000;

/** The rest of a list that waits until few items are awaited. */
interface Held {
  depth: number;
  begin: () => void;
}

/** Runs work in time slices, between which other requests are served. */
export class Pieces {
  /** Number of leaf values completed so far. */
  leaves = 0;
  readonly #parts: PieceParts;
  readonly #stopped = Promise.withResolvers<never>();
  readonly #startedAt: number;
  /** Queued tasks by their depth in the answer. */
  #tasks: (() => void)[][] = [];
  #waiting = 0;
  /** Numbers of awaited list items by the depth of their lists. */
  readonly #awaited: number[] = [];
  #held: Held[] = [];
  #reads: (() => void)[] = [];
  #endsAt = -Infinity;
  #waitedMs = 0;
  #ranMs = 0;
  #characters = 0;
  #isDriven = false;
  /** True once slices queue. */
  #queues = false;
  #isOver = false;

  constructor(parts: PieceParts) {
    this.#parts = parts;
    this.#startedAt = parts.now();
    this.#stopped.promise.catch(() => {});
  }

  get characters(): number {
    return this.#characters;
  }

  /** Counts written characters. */
  readonly wrote = (characters: number): void => {
    this.#characters += characters;
  };

  /** True if the running slice has time left. */
  mayGoOn(): boolean {
    const { limits, now } = this.#parts;
    return !this.#isOver && this.#characters <= limits.characters && now() < this.#endsAt;
  }

  /**
   * Runs a task in a later slice, or never if the work was stopped. The deepest tasks run first and, among those, the
   * latest: a list is finished before its neighbours begin, which limits the memory in use.
   */
  later<T>(task: () => T, depth = 0): Promise<Awaited<T>> {
    return new Promise((resolve, reject) => {
      if (this.#isOver) return;
      this.#waiting++;
      while (this.#tasks.length <= depth) this.#tasks.push([]);
      this.#tasks[depth]!.push(() => {
        try {
          resolve(task() as Awaited<T>);
        } catch (error) {
          reject(error);
        }
      });
      if (!this.#isDriven) void this.#drive();
    });
  }

  /** An item of a list at a depth is awaited. It may reject before its list is complete, which handles that. */
  awaits(item: Promise<unknown>, depth: number): void {
    this.#awaited[depth] = (this.#awaited[depth] ?? 0) + 1;
    const done = () => {
      this.#awaited[depth]!--;
      this.#releaseHeld();
    };
    item.then(done, done);
  }

  /** True if a list at a depth may go on: few of the items there and below are awaited, which do not wait for it. */
  hasRoom(depth: number): boolean {
    let count = 0;
    for (let below = depth; below < this.#awaited.length; below++) count += this.#awaited[below] ?? 0;
    return count < mostAwaited;
  }

  /** As `later`, for the rest of a list: when it has room. */
  laterInRoom<T>(task: () => T, depth: number): Promise<Awaited<T>> {
    if (this.hasRoom(depth)) return this.later(task, depth);
    return new Promise((resolve, reject) => {
      this.#held.push({ depth, begin: () => void this.later(task, depth).then(resolve, reject) });
    });
  }

  #releaseHeld(): void {
    if (this.#held.length === 0) return;
    const { room = [], none = [] } = Object.groupBy(this.#held, ({ depth }) => (this.hasRoom(depth) ? 'room' : 'none'));
    this.#held = none;
    for (const { begin } of room) begin();
  }

  /** As `later`, in a slice that waits for its turn, as all later ones do: what ran before is more than its slices. */
  apart<T>(task: () => T): Promise<Awaited<T>> {
    this.#endsAt = -Infinity;
    this.#queues = true;
    return this.later(task);
  }

  /**
   * The batch schedule of a DataLoader: batches are read when no other task is left and no work of the request waits
   * for its turn, so that the items of a list form one batch, although it takes several slices or computes each.
   */
  readonly batch = (read: () => void): void => {
    this.#reads.push(read);
    if (this.#reads.length === 1) this.#readWhenIdle();
  };

  /** Runs the work to its end. Rejects when it is stopped. */
  async run<T>(work: () => T): Promise<Awaited<T>> {
    try {
      const result = await Promise.race([this.later(work), this.#stopped.promise]);
      if (this.#characters > this.#parts.limits.characters) throw new OverLimit('characters');
      return result;
    } finally {
      this.#end();
    }
  }

  #end(): void {
    this.#isOver = true;
    this.#tasks = [];
    this.#waiting = 0;
    this.#held = [];
    this.#reads = [];
  }

  #readWhenIdle(): void {
    // Like DataLoader: promises that are ready are handled first.
    void Promise.resolve().then(() => process.nextTick(() => this.#readBatches()));
  }

  #readBatches(): void {
    if (this.#waiting > 0) return;
    const turns = this.#parts.turns?.();
    if (turns) return void turns.then(() => this.#readWhenIdle());
    const reads = this.#reads;
    this.#reads = [];
    // Those of a thousand instants are too many for one slice.
    for (const read of reads) void this.later(read);
  }

  /** Runs tasks, as many per slice as its time allows, until none is left. */
  async #drive(): Promise<void> {
    const { now } = this.#parts;
    this.#isDriven = true;
    try {
      while (this.#waiting > 0) {
        await this.#begin();
        const began = now();
        do this.#next()?.();
        while (this.#waiting > 0 && this.mayGoOn());
        this.#ranMs += now() - began;
      }
      if (this.#reads.length > 0) this.#readWhenIdle();
    } catch (error) {
      this.#end();
      this.#stopped.reject(error);
    } finally {
      this.#isDriven = false;
    }
  }

  #next(): (() => void) | undefined {
    for (let depth = this.#tasks.length - 1; depth >= 0; depth--) {
      const task = this.#tasks[depth]!.pop();
      if (!task) continue;
      this.#waiting--;
      return task;
    }
    return undefined;
  }

  /** Begins a slice when the queue allows it. Throws if a limit has been reached. */
  async #begin(): Promise<void> {
    const { turn, now, limits, lightMs = 0 } = this.#parts;
    if (this.#characters > limits.characters) throw new OverLimit('characters');
    const asked = now();
    this.#queues ||= this.#ranMs >= lightMs;
    if (this.#queues) await turn();
    const began = now();
    this.#waitedMs += began - asked;
    if (began - this.#startedAt - this.#waitedMs > limits.ms) throw new OverLimit('ms');
    this.#endsAt = began + pieceMs;
  }
}
