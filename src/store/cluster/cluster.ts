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
// A transaction that writes on one worker, and on the coordinator tables that Citus does not manage, is committed on
// the worker first: a crash in between leaves half of it. A write through Citus on the coordinator, though it changes
// no row, has the worker prepare, and commit after the coordinator.
const inTwoPhasesText = `DELETE FROM store_facts WHERE key = ''`;

/** Maximum number of statements, each of one symbol, that a pool sends a distributed store at once for one reader. */
const symbolsAtOnceOfPool = 4;

// Servers of the release before take these for a change of anything.
const nodesPayload = JSON.stringify({ id: 'nodes', nodes: true });
const doubtPayload = JSON.stringify({ id: 'doubt', doubt: true });

const lockOf = (id: string) => `announcement ${id}`;

/** The parts of a store whose nodes are watched. */
export interface WatchedStore {
  pool: pg.Pool;
  primary: Reader;
  versions: DataVersions;
}

/** Follows what nodes do, for a process that holds data. */
export interface ClusterWatch {
  /** Takes a notification that is about nodes: true. */
  heard(payload: string): boolean;
  /**
   * Calls `move` with the id of an announcement once every node has committed what it announces; with null when that is
   * not known yet, and of an announcement without an id at once.
   */
  whenCommitted(id: string | null, move: (id: string | null) => void): void;
  /** Asks again what may have changed while notifications were missed. */
  lookAgain(): void;
  /** A commit may be missing on a node: nothing is held until none is. Resolves when it has looked once. */
  doubt(): Promise<void>;
  /** Ends the watch; to be called before the store is closed. */
  stop(): Promise<void>;
}

/**
 * The nodes that a store's tables are on: a distributed PostgreSQL (Citus) spreads them over several. On one node
 * nothing is divided, done again or waited for.
 */
export class Cluster {
  readonly #pool: pg.Pool;
  #isSpread: boolean;
  /** True if a commit of this process was not answered by every node: some may not have it yet. */
  #inDoubt = false;
  /** Routing of statements in a transaction, whose connection does one thing at a time. */
  readonly transactionRouting = new Routing(() => (this.#isSpread ? 1 : 0));

  constructor(pool: pg.Pool, isSpread: boolean) {
    this.#pool = pool;
    this.#isSpread = isSpread;
  }

  /** Asks the database; its tables may have been spread since the last time. */
  async look(): Promise<void> {
    const { rows } = await this.#pool.query<{ found: boolean }>(distributedText);
    this.#isSpread = rows[0]!.found;
  }

  /** Reads by a pool; what failed as a shard was moved is read again. */
  reader(pool: Pick<Reader, 'query' | 'prisma'>): Reader {
    const routing = new Routing(() => (this.#isSpread ? symbolsAtOnceOfPool : 0));
    return Object.assign(
      retriedReads(pool, () => this.#isSpread),
      { routing },
    );
  }

  /** Does `work`, on several nodes up to four times, if its failure may pass and `mayRepeat` allows it. */
  repeated<T>(work: () => Promise<T>, mayRepeat: () => boolean): Promise<T> {
    return again(work, (error) => this.#isSpread && mayRepeat() && mayPass(error));
  }

  /** Lets the nodes commit a transaction together. */
  async beforeCommit(tx: Pick<Reader, 'query'>): Promise<void> {
    if (this.#isSpread) await tx.query(inTwoPhasesText);
  }

  /** Notes that a commit was answered with a warning: a node may not have it until it is back. Tells every process. */
  async afterWarning(tx: Pick<Reader, 'query'>): Promise<void> {
    if (!this.#isSpread) return;
    this.#inDoubt = true;
    // A commit is not undone by a failure of this; listeners have lost their connection too.
    await notify(tx, changesChannel, doubtPayload).catch(() => {});
  }

  /**
   * Waits until every node has everything that was committed before. Otherwise a transaction that reads rows to change
   * them would overwrite committed rows that are not visible yet. Throws if a node that may lack something does not
   * answer. With `always` false, only if a commit of this process is in doubt.
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
   * one too early and would read the old data. PostgreSQL releases locks last, and listeners wait for it.
   */
  async holdAnnouncement(tx: Queries, id: string): Promise<void> {
    if (this.#isSpread) await lock(tx, lockOf(id));
  }

  /** Tells every process that the tables are about to be spread over nodes. */
  async announce(connection: Pick<Reader, 'query'>): Promise<void> {
    await notify(connection, changesChannel, nodesPayload);
  }

  /** Watches the nodes of `store`, whose cluster this is. */
  watch(store: WatchedStore): ClusterWatch {
    const settling = watchSettling(store, () => this.#isSpread);
    const stopped = new AbortController();
    const lookAgain = () => {
      // If it cannot be asked now, readers get an error too.
      void this.look().catch(() => {});
    };
    return {
      heard(payload) {
        if (payload === nodesPayload) lookAgain();
        else if (payload === doubtPayload) void settling.doubt();
        else return false;
        return true;
      },
      whenCommitted: (id, move) => {
        if (id === null || !this.#isSpread) move(id);
        else void whenFree(store.primary, { id, move, stopped: stopped.signal });
      },
      lookAgain() {
        lookAgain();
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

/** Asks the database of `pool` for its nodes. */
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
      // It is not known yet: what was read meanwhile is not held for long.
      move(null);
      await delay(retryMs, undefined, { ref: false });
    }
  }
}
