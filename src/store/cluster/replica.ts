import type pg from 'pg';
import { connectionFailure, reasonOf } from '../rows/connection-failure.ts';
import type { Reader } from '../rows/reader.ts';
import { sqlStateOf } from '../rows/sql-state.ts';

/**
 * Settles like `work`; rejects with the signal's reason if that is aborted first. For many pieces of work with one
 * signal: `Promise.race` with a pending promise would retain every result.
 */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) {
      onAbort();
      return;
    }
    signal.addEventListener('abort', onAbort, { once: true });
    const isOver = () => signal.removeEventListener('abort', onAbort);
    work.then(resolve, reject).then(isOver);
  });
}

/** Longest time in which a server says where it is, ms. */
const patienceMs = 2000;

// A position, and which cluster's it is: another's says nothing.
const primaryText =
  'SELECT pg_current_wal_insert_lsn()::text AS lsn, (SELECT system_identifier::text FROM pg_control_system()) AS cluster';

/** The end of a primary's log, and the cluster that it is a position of. */
interface PrimaryPosition {
  lsn: string;
  cluster: string;
}

/** The one row of a statement about the position of a server. Rejects if it takes longer than 2 s. */
async function queryPosition<Row>(pool: pg.Pool, text: string, values: unknown[] = []): Promise<Row> {
  // A limit of its own: the store's is for statements that do something, and may be none.
  const { rows } = await pool.query({ text, values, query_timeout: patienceMs } as pg.QueryConfig);
  return rows[0] as Row;
}

/** The positions of the primary after each change, asked for once per change. */
export class PrimaryPositions {
  readonly #pool: pg.Pool;
  #latest: { change: number; position: Promise<PrimaryPosition> } | null = null;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /** The position after the last change, number `change`; null when the primary does not answer: asked again then. */
  async after(change: number): Promise<PrimaryPosition | null> {
    if (this.#latest?.change !== change)
      this.#latest = { change, position: queryPosition<PrimaryPosition>(this.#pool, primaryText) };
    const asked = this.#latest;
    try {
      return await asked.position;
    } catch {
      if (this.#latest === asked) this.#latest = null;
      return null;
    }
  }
}

/** A standby as it is read, and `probe`, of one connection, for looking where it is. */
export interface ReplicaPools extends Reader {
  probe: pg.Pool;
  /** Its address, without what is secret in it. */
  shown: string;
  close(): Promise<void>;
}

// PostgreSQL's codes: a statement ended by its time limit; the class of those of a server that ends.
const tookTooLong = '57014';
const serverEnds = '57P';

const standbyText = `SELECT pg_is_in_recovery() AS standby, (SELECT system_identifier::text FROM pg_control_system()) AS cluster,
  coalesce(pg_last_wal_replay_lsn() >= $1::pg_lsn, false) AS reached,
  coalesce(current_setting('citus.use_secondary_nodes', true) = 'always', false) AS "asksStandbys"`;

/** State of a standby; `asksStandbys`: a coordinator of Citus that reads standbys of the workers. */
interface StandbyState {
  standby: boolean;
  cluster: string;
  reached: boolean;
  asksStandbys: boolean;
}

/** The reason why a server in this state cannot be read instead of a primary of `cluster`; null = it can. */
function reasonAgainst({ standby, cluster, asksStandbys }: StandbyState, ofPrimary: string): string | null {
  if (!standby) return 'it is not a standby';
  if (cluster !== ofPrimary) return 'it is a standby of another server';
  // Its position says nothing of theirs.
  if (asksStandbys) return 'it reads standbys of the workers: set citus.use_secondary_nodes to never';
  return null;
}

/**
 * A standby: the last change that it is known to have, and whether it can be used. `log` is called when it becomes
 * unusable and when it is used again, once each.
 */
export class Replica {
  readonly #pools: ReplicaPools;
  readonly #log: (line: string) => void;
  /** Number of the last change that it is known to have; 0 = none, or it is away. */
  lastChange = 0;
  #isAway = false;
  #isClosed = false;
  /** Aborted when it goes away: what it was asked is asked of the primary. */
  #gone = new AbortController();

  constructor(pools: ReplicaPools, log: (line: string) => void) {
    this.#pools = pools;
    this.#log = log;
  }

  get isAway(): boolean {
    return this.#isAway;
  }

  /** Asks it whether it has reached the position that the primary had after change number `change`. */
  async lookFor({ lsn, cluster }: PrimaryPosition, change: number): Promise<void> {
    try {
      const state = await queryPosition<StandbyState>(this.#pools.probe, standbyText, [lsn]);
      const reason = reasonAgainst(state, cluster);
      if (reason !== null) {
        this.#leave(reason);
        return;
      }
      this.#takeBack();
      if (state.reached) this.lastChange = change;
    } catch (error) {
      this.#leave(connectionFailure(error));
    }
  }

  /** Reads from it; null when it could not answer, and the primary is to be asked. */
  async ask<T>(read: (from: Reader) => Promise<T>): Promise<{ answer: T } | null> {
    const asked = read(this.#pools);
    // Nothing waits for it any more once the standby is away.
    asked.catch(() => {});
    try {
      return { answer: await unlessAborted(asked, this.#gone.signal) };
    } catch (error) {
      const code = sqlStateOf(error);
      // A statement that takes too long here would there too.
      if (code === tookTooLong) throw error;
      // An error of the server itself (a statement cancelled by what it replays, one that is wrong) is no reason to
      // leave it, but that it ends.
      if (code === null || code.startsWith(serverEnds)) this.#leave(reasonOf(error as Error));
      return null;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#gone.abort(new Error('the store is closed'));
    await this.#pools.close();
  }

  #leave(reason: string): void {
    if (this.#isAway || this.#isClosed) return;
    this.#isAway = true;
    this.lastChange = 0;
    this.#gone.abort(new Error(reason));
    this.#gone = new AbortController();
    this.#log(`warning: the read replica ${this.#pools.shown} of DATABASE_READ_URLS is not used: ${reason}`);
  }

  #takeBack(): void {
    if (!this.#isAway) return;
    this.#isAway = false;
    this.#log(`the read replica ${this.#pools.shown} is used again`);
  }
}
