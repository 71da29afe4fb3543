import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { lock, untilFree } from '../rows/locks.ts';
import type { Reader } from '../rows/reader.ts';
import type { Queries } from '../rows/statement.ts';
import type { DataVersions } from '../versions/data-versions.ts';
import { changesChannel, notify } from '../versions/notifications.ts';
import { again, mayPass, retriedReads } from './retries.ts';
import { Routing } from './routing.ts';
import { settled, watchSettling } from './unsettled-commits.ts';

const distributedText = `SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') AS found`;
// A transaction that writes on one worker, and on the coordinator to tables that Citus does not manage, commits on the
// worker first: a crash in between leaves half of it. A write through Citus on the coordinator, even one that changes
// no row, makes the worker prepare, and commit after the coordinator.
const inTwoPhasesText = `DELETE FROM store_facts WHERE key = ''`;

/** Maximum number of single-symbol statements that a pool sends to a distributed store concurrently for one reader. */
const symbolsAtOnceOfPool = 4;

// Servers of the previous release treat these as a change of anything.
const doubtPayload = JSON.stringify({ id: 'doubt', doubt: true });

const lockOf = (id: string) => `announcement ${id}`;

/** The parts of a store that its cluster watches. */
export interface WatchedStore {
  pool: pg.Pool;
  primary: Reader;
  versions: DataVersions;
}

/** Tracks commits on the nodes, for a process that caches data. */
export interface ClusterWatch {
  /** Handles a notification about nodes; true if it was one. */
  heard(payload: string): boolean;
  /**
   * Calls `move` with the id of an announcement once every node has committed the change; with null if that is unknown;
   * and immediately for an announcement without an id.
   */
  whenCommitted(id: string | null, move: (id: string | null) => void): void;
  /** Checks again for changes after notifications were missed. */
  lookAgain(): void;
  /** A node may lack a commit: nothing is cached until none does. Resolves after the first check. */
  doubt(): Promise<void>;
  /** Ends the watch; call it before the store is closed. */
  stop(): Promise<void>;
}

/**
 * The nodes with a store's tables: a distributed PostgreSQL (Citus) has several. On one node nothing is divided,
 * retried or awaited.
 */
export class Cluster {
  readonly #pool: pg.Pool;
  #isSpread: boolean;
  /** True if not every node confirmed a commit of this process: some may lack it. */
  #inDoubt = false;
  /** Routing of statements in a transaction, whose connection runs one at a time. */
  readonly transactionRouting = new Routing(() => (this.#isSpread ? 1 : 0));

  constructor(pool: pg.Pool, isSpread: boolean) {
    this.#pool = pool;
    this.#isSpread = isSpread;
  }

  /** Checks the database: its tables may have been distributed since the last time. */
  async look(): Promise<void> {
    const { rows } = await this.#pool.query<{ found: boolean }>(distributedText);
    this.#isSpread = rows[0]!.found;
  }

  /** Reads by a pool. A read that failed because a shard moved is retried. */
  reader(pool: Pick<Reader, 'query' | 'prisma'>): Reader {
    const routing = new Routing(() => (this.#isSpread ? symbolsAtOnceOfPool : 0));
    return Object.assign(
      retriedReads(pool, () => this.#isSpread),
      { routing },
    );
  }

  /** Runs `work`; on several nodes up to four times, if its failure may be temporary and `mayRepeat` allows it. */
  repeated<T>(work: () => Promise<T>, mayRepeat: () => boolean): Promise<T> {
    return again(work, (error) => this.#isSpread && mayRepeat() && mayPass(error));
  }

  /** Makes the nodes commit a transaction together. */
  async beforeCommit(tx: Pick<Reader, 'query'>): Promise<void> {
    if (this.#isSpread) await tx.query(inTwoPhasesText);
  }

  /** Records that a commit was answered with a warning: a node may lack it until it is back. Notifies every process. */
  async afterWarning(tx: Pick<Reader, 'query'>): Promise<void> {
    if (!this.#isSpread) return;
    this.#inDoubt = true;
    // The commit stays valid if this fails; listeners have lost their connection too.
    await notify(tx, changesChannel, doubtPayload).catch(() => {});
  }

  /**
   * Waits until every node has all earlier commits. Otherwise a transaction that reads rows to change them would
   * overwrite committed rows that are not visible yet. Throws if a node that may lack something does not answer. With
   * `always` false, waits only if a commit of this process is in doubt.
   */
  async untilSettled(always = true): Promise<void> {
    if (!this.#isSpread || !(always || this.#inDoubt)) return;
    this.#inDoubt = false;
    try {
      await settled(this.#pool);
    } catch (error) {
      this.#inDoubt = true;
      throw error;
    }
  }

  /**
   * Holds a lock until the announcing transaction is over on every node. A worker commits after the coordinator, and an
   * announcement is sent after both. But another announcement can wake a listener in between, which then receives this
   * one too early and would read the old data. PostgreSQL releases locks last, so listeners wait for the lock.
   */
  async holdAnnouncement(tx: Queries, id: string): Promise<void> {
    if (this.#isSpread) await lock(tx, lockOf(id));
  }

  /** Watches the nodes of `store`, to which this cluster belongs. */
  watch(store: WatchedStore): ClusterWatch {
    const settling = watchSettling(store, () => this.#isSpread);
    const stopped = new AbortController();
    return {
      heard(payload) {
        if (payload !== doubtPayload) return false;
        void settling.doubt();
        return true;
      },
      whenCommitted: (id, move) => {
        if (id === null || !this.#isSpread) move(id);
        else void whenFree(store.primary, { id, move, stopped: stopped.signal });
      },
      lookAgain: () => {
        // If it cannot be reached now, readers get an error too.
        void this.look().catch(() => {});
        void settling.doubt();
      },
      doubt: settling.doubt,
      async stop() {
        stopped.abort();
        await settling.stop();
      },
    };
  }
}

/** Determines the nodes of the database of `pool`. */
export async function openCluster(pool: pg.Pool): Promise<Cluster> {
  const cluster = new Cluster(pool, false);
  await cluster.look();
  return cluster;
}

const retryMs = 1000;

interface Announced {
  id: string;
  move: (id: string | null) => void;
  stopped: AbortSignal;
}

async function whenFree(primary: Reader, { id, move, stopped }: Announced): Promise<void> {
  while (!stopped.aborted) {
    try {
      await untilFree(primary, lockOf(id));
      move(id);
      return;
    } catch {
      // Not known yet: data read meanwhile is not cached for long.
      move(null);
      await delay(retryMs, undefined, { ref: false });
    }
  }
}
