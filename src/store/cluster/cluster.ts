import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { lock, untilFree } from '../rows/locks.ts';
import { modelsThrough } from '../rows/models/models-through.ts';
import type { Reader } from '../rows/reader.ts';
import { sqlStateOf } from '../rows/sql-state.ts';
import type { Queries } from '../rows/statement.ts';
import { storeError } from '../rows/store-error.ts';
import type { DataVersions } from '../versions/data-versions.ts';
import { changesChannel, notify } from '../versions/notifications.ts';
import { Routing } from './routing.ts';

/** Pauses before retries, ms: a shard has moved by the first, a node may be back by the last. */
const pausesMs = [50, 200, 800];
/** Age from which a failed read is not retried, ms. */
const patienceMs = 2000;

// PostgreSQL's codes: serialization failures and deadlocks; a server that ends; the class of lost connections, here
// those between the nodes.
const transient = /^(40001|40P01|57P0[123]|08...)$/;
const undefinedTable = '42P01';
const internalError = 'XX000';

/**
 * True if a failure of a distributed store may be temporary: a shard has moved, a node was unreachable, a deadlock was
 * resolved.
 */
function mayPass(error: unknown): boolean {
  const code = sqlStateOf(error);
  if (code === null) return false;
  if (transient.test(code)) return true;
  const { message } = error as Error;
  // Planned before the shard was moved or split, and sent to its former node.
  if (code === undefinedTable) return /_\d{6,}"? does not exist/.test(message);
  return code === internalError && /\bshard\b|server closed the connection/.test(message);
}

/** Runs `work`, up to four times, as long as `mayRepeat` allows it for the error and the time so far. */
async function again<T>(work: () => Promise<T>, mayRepeat: (error: unknown, elapsedMs: number) => boolean): Promise<T> {
  const begunAt = performance.now();
  for (const pauseMs of pausesMs)
    try {
      return await work();
    } catch (error) {
      if (!mayRepeat(error, performance.now() - begunAt)) throw error;
      await delay(pauseMs);
    }
  return work();
}

const isReadAgain = (error: unknown, elapsedMs: number) => mayPass(error) && elapsedMs <= patienceMs;

/** Reads by `reader`; on a distributed store a read that failed because a shard moved is retried. */
export function retriedReads(
  { query, prisma }: Pick<Reader, 'query' | 'prisma'>,
  isSpread: () => boolean,
): Pick<Reader, 'query' | 'prisma'> {
  const retried = modelsThrough((call) => again(() => call(prisma), isReadAgain));
  return {
    query: (statement, values) =>
      isSpread() ? again(() => query(statement, values), isReadAgain) : query(statement, values),
    get prisma() {
      return isSpread() ? retried : prisma;
    },
  };
}

// Committed on the coordinator, and still prepared on a node, or on one that does not answer. The node has the
// transaction once Citus recovers it (`citus.recover_2pc_interval`); until then it returns old rows.
const unsettledText = `SELECT entry.groupid || ' ' || entry.gid AS id,
    nodename || ':' || nodeport AS node, answer.success IS TRUE AS answers
  FROM pg_dist_transaction AS entry
  JOIN pg_dist_node AS node ON node.groupid = entry.groupid AND node.noderole = 'primary'
  LEFT JOIN run_command_on_all_nodes($$SELECT coalesce(jsonb_agg(gid), '[]') FROM pg_prepared_xacts$$) AS answer
    ON answer.nodeid = node.nodeid
  WHERE CASE WHEN answer.success THEN answer.result::jsonb ? entry.gid ELSE true END`;

const pauseMs = 1000;
const settledPauseMs = 200;

interface Unsettled {
  id: string;
  node: string;
  /** True if the node answers. */
  answers: boolean;
}

async function unsettledOf(pool: pg.Pool): Promise<Unsettled[]> {
  const { rows } = await pool.query<Unsettled>(unsettledText);
  return rows;
}

/** Resolves when every node has all current commits. Throws if a node that may lack something does not answer. */
async function settled(pool: pg.Pool): Promise<void> {
  let left: Set<string> | null = null;
  for (;;) {
    const now: Unsettled[] = (await unsettledOf(pool)).filter(({ id }) => left?.has(id) ?? true);
    const away = now.find(({ answers }) => !answers);
    if (away)
      throw storeError(
        `The node ${away.node} does not answer, and may lack a transaction that is committed. Start it, then try again.`,
      );
    if (now.length === 0) return;
    left = new Set(now.map(({ id }) => id));
    await delay(settledPauseMs);
  }
}

/** Watches for committed transactions that are not visible on every node. */
interface Settling {
  /**
   * Reports that there may be one: nothing is cached from now on until there is none. Resolves after the first check.
   */
  doubt(): Promise<void>;
  /** Ends the watch; call it before the store is closed. */
  stop(): Promise<void>;
}

/** Watches a store on several nodes; one on a single node has no such transactions. */
function watchSettling(
  { pool, versions }: { pool: pg.Pool; versions: DataVersions },
  isSpread: () => boolean,
): Settling {
  let doubts = 0;
  let settling: { looked: Promise<void>; ended: Promise<void> } | null = null;
  const stopped = new AbortController();

  async function unsettled(): Promise<Set<string> | null> {
    try {
      return new Set((await unsettledOf(pool)).map(({ id }) => id));
    } catch {
      return null;
    }
  }

  async function settle(looked: () => void): Promise<void> {
    versions.addLost(1);
    let seen = -1;
    let left = null as Set<string> | null;
    while (!stopped.signal.aborted) {
      // Later ones are settled by their own writers, or reported again.
      const before: Set<string> | null = seen === doubts ? left : null;
      seen = doubts;
      const now = await unsettled();
      left = now && new Set([...now].filter((id) => before?.has(id) ?? true));
      if (left?.size === 0 && seen === doubts) break;
      looked();
      await delay(pauseMs, undefined, { signal: stopped.signal, ref: false }).catch(() => {});
    }
    settling = null;
    versions.addLost(-1);
    looked();
  }

  return {
    async doubt() {
      doubts += 1;
      if (!isSpread() || stopped.signal.aborted) return;
      if (settling === null) {
        const { promise, resolve } = Promise.withResolvers<void>();
        settling = { looked: promise, ended: settle(resolve) };
      }
      await settling.looked;
    },
    async stop() {
      stopped.abort();
      await settling?.ended;
    },
  };
}

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
interface WatchedStore {
  pool: pg.Pool;
  primary: Reader;
  versions: DataVersions;
}

/** Tracks commits on the nodes, for a process that caches data. */
interface ClusterWatch {
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
