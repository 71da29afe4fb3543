/** Limits of work in pieces. */
export interface PieceLimits {
  /** Characters that it may write. */
  characters: number;
  /** Maximum processing time, ms, without the time it waits in the queue. */
  ms: number;
}

/** Why work was stopped: it wrote more, or took longer, than it may. */
export class OverLimit extends Error {
  override readonly name = 'OverLimit';
  readonly limit: keyof PieceLimits;

  constructor(limit: keyof PieceLimits) {
    super(`Over the limit of ${limit}.`);
    this.limit = limit;
  }
}

/** Parts of work in pieces. */
export interface PieceParts {
  /** Resolves when a piece may run; rejects when nothing more is to be done. */
  turn: () => Promise<void>;
  limits: PieceLimits;
  /** Processing time, ms, until which pieces do not wait for their turn; 0 by default. */
  lightMs?: number;
  /** Monotonic, ms. */
  now: () => number;
}

/** Length of a piece, ms. */
const pieceMs = 1;

/** Work that is done in pieces, between which others are served. */
export class Pieces {
  /** Values completed so far that have none below them. */
  leaves = 0;
  readonly #parts: PieceParts;
  readonly #stopped = Promise.withResolvers<never>();
  readonly #startedAt: number;
  /** By how deep in the answer they are. */
  #tasks: (() => void)[][] = [];
  #waiting = 0;
  #reads: (() => void)[] = [];
  #endsAt = -Infinity;
  #waitedMs = 0;
  #ranMs = 0;
  #characters = 0;
  #isDriven = false;
  #isOver = false;

  constructor(parts: PieceParts) {
    this.#parts = parts;
    this.#startedAt = parts.now();
    this.#stopped.promise.catch(() => {});
  }

  /** Characters written so far. */
  get characters(): number {
    return this.#characters;
  }

  /** Counts characters that were written. */
  readonly wrote = (characters: number): void => {
    this.#characters += characters;
  };

  /** True if the running piece has time left. */
  mayGoOn(): boolean {
    const { limits, now } = this.#parts;
    return !this.#isOver && this.#characters <= limits.characters && now() < this.#endsAt;
  }

  /**
   * Does a task in a later piece; never when the work was stopped. The deepest come first, and of those the latest: a
   * list that was begun is finished before its neighbours are begun, so that little is in memory at a time.
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

  /**
   * The schedule of a DataLoader: batches are read once nothing else is left to do, so that the items of a list that
   * takes several pieces are one batch.
   */
  readonly batch = (read: () => void): void => {
    this.#reads.push(read);
    if (this.#reads.length === 1) this.#readWhenIdle();
  };

  /** Does the work to its end, and no more after it. Rejects when it is stopped. */
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
    this.#reads = [];
  }

  #readWhenIdle(): void {
    // As DataLoader does: promises that are ready come first.
    void Promise.resolve().then(() => process.nextTick(() => this.#readBatches()));
  }

  #readBatches(): void {
    if (this.#waiting > 0) return;
    const reads = this.#reads;
    this.#reads = [];
    for (const read of reads) read();
  }

  /** Runs tasks, as many in a piece as its time allows, until there are none. */
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

  /** Begins a piece when it is next; throws when a limit has been reached. */
  async #begin(): Promise<void> {
    const { turn, now, limits, lightMs = 0 } = this.#parts;
    if (this.#characters > limits.characters) throw new OverLimit('characters');
    const asked = now();
    if (this.#ranMs >= lightMs) await turn();
    const began = now();
    this.#waitedMs += began - asked;
    if (began - this.#startedAt - this.#waitedMs > limits.ms) throw new OverLimit('ms');
    this.#endsAt = began + pieceMs;
  }
}
