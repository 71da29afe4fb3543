import { dateOfEpochDay } from '../../core/domain/market-time.ts';
import { type Clock, dayMs } from '../../platform/runtime/clock.ts';
import { addUsage, forgetUsageWriter, readUsage, type UsageBatch, type UsageCount } from '../../store/account/usage.ts';
import type { Store } from '../../store/rows/connection.ts';

/** Writes collected data every few seconds, one write at a time. */
interface BatchWriter {
  /** Writes the collected data now. Resolves when that succeeded or failed. Never throws. */
  flush(): Promise<void>;
  /** Stops the interval and writes a last time, with up to three attempts. */
  close(): Promise<void>;
}

/** Parts of a batch writer. */
interface BatchWriterOptions {
  /** Name for the log, and for the health of the process. */
  what: string;
  everyMs: number;
  /** Writes the queued data; false if there was none. If it throws, the data stays queued. */
  write: () => Promise<boolean>;
  /** Called with a line to log when writing begins to fail. */
  log: (line: string) => void;
  /** Called after each attempt; `error` null = written. */
  wrote: (writer: string, error: unknown) => void;
}

/** Starts the interval. */
export function startBatchWriter({ what, everyMs, write, log, wrote }: BatchWriterOptions): BatchWriter {
  let running: Promise<boolean> = Promise.resolve(true);
  let failing = false;

  async function attempt(): Promise<boolean> {
    try {
      const any = await write();
      if (any) wrote(what, null);
      failing = false;
      return true;
    } catch (error) {
      wrote(what, error);
      if (!failing) log(`warning: ${what} could not be written; retrying: ${(error as Error).message}`);
      failing = true;
      return false;
    }
  }
  function next(): Promise<boolean> {
    running = running.then(attempt);
    return running;
  }
  const timer = setInterval(() => void next(), everyMs);
  timer.unref();

  return {
    flush: async () => {
      await next();
    },
    async close() {
      clearInterval(timer);
      for (let tries = 0; tries < 3; tries += 1) if (await next()) return;
      log(`warning: ${what} of the last seconds are lost`);
    },
  };
}

/** Number of days of usage, including today (spec 4.4). */
export const trailingDays = 30;

/** Interval of writes, ms: a crash loses at most this much. */
const flushMs = 2000;
/**
 * Maximum number of unwritten rows (account, date, group) while writing fails: some 20 MB. Existing rows continue to
 * count.
 */
const mostRows = 100_000;
/** Age after which writers that have not written since are forgotten, ms. */
const staleWriterMs = 30 * dayMs;

/** Counts authenticated requests by account, UTC date and scope group, and writes the counts every 2 s. */
export class Usage {
  readonly #store: Store;
  readonly #now: Clock;
  readonly #log: (line: string) => void;
  readonly #startedAt: number;
  /** Names this process in the store. */
  readonly #writer: string;
  readonly #batchWriter: BatchWriter;
  #gathered = new Map<string, UsageCount>();
  // A batch whose writing failed stays as it is: the store knows it by its number, should it have arrived after all.
  #pending: UsageBatch | null = null;
  #batches = 0;
  #lost = 0;

  constructor(store: Store, now: Clock, log: (line: string) => void) {
    this.#store = store;
    this.#now = now;
    this.#log = log;
    this.#startedAt = Math.floor(now());
    this.#writer = `${this.#startedAt} ${crypto.randomUUID()}`;
    this.#batchWriter = startBatchWriter({
      what: 'usage counts',
      everyMs: flushMs,
      write: () => this.#write(),
      log,
      wrote: store.writes.wrote,
    });
  }

  /**
   * Counts a request (or `times` requests, for a GraphQL request with several root fields of the group). Runs no query.
   */
  count(accountId: string, scopeGroup: string, times = 1): void {
    const date = dateOfEpochDay(this.#today());
    const key = JSON.stringify([accountId, date, scopeGroup]);
    const row = this.#gathered.get(key);
    if (row) row.count += times;
    else if (this.#gathered.size >= mostRows) this.#lose(times);
    else this.#gathered.set(key, { accountId, date, scopeGroup, count: times });
  }

  /**
   * The counts of the last 30 UTC days, including today, by date and scope group; counts of this process are included.
   */
  async read(accountId: string): Promise<UsageCount[]> {
    await this.#batchWriter.flush();
    return readUsage(this.#store, accountId, dateOfEpochDay(this.#today() - trailingDays + 1));
  }

  /** Writes what is counted now. */
  flush(): Promise<void> {
    return this.#batchWriter.flush();
  }

  /** Rows that wait to be written, and requests that could not be counted any more. */
  waiting(): { rows: number; lost: number } {
    return { rows: this.#gathered.size + (this.#pending?.counts.length ?? 0), lost: this.#lost };
  }

  async close(): Promise<void> {
    await this.#batchWriter.close();
    if (this.#batches > 0)
      await forgetUsageWriter(this.#store, this.#writer, this.#startedAt - staleWriterMs).catch(() => {});
  }

  /** The UTC date, days since the epoch. */
  #today(): number {
    return Math.floor(this.#now() / dayMs);
  }

  #lose(requests: number): void {
    if (this.#lost === 0)
      this.#log(`warning: more than ${mostRows} usage rows are waiting to be written; new requests are not counted`);
    this.#lost += requests;
  }

  /** Writes what an earlier attempt left, then what was gathered since; false = there was nothing. */
  async #write(): Promise<boolean> {
    let any = false;
    for (let i = 0; i < 2; i += 1) {
      this.#pending ??= this.#nextBatch();
      if (this.#pending === null) return any;
      await addUsage(this.#store, this.#pending);
      this.#pending = null;
      any = true;
    }
    return any;
  }

  /** Takes what was gathered; null = nothing. */
  #nextBatch(): UsageBatch | null {
    if (this.#gathered.size === 0) return null;
    this.#batches += 1;
    const counts = [...this.#gathered.values()];
    this.#gathered = new Map();
    return { writer: this.#writer, number: this.#batches, counts };
  }
}
