import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { connectionFailure, reasonOf } from '../rows/connection-failure.ts';
import { modelsThrough } from '../rows/models/models-through.ts';
import type { Reader } from '../rows/reader.ts';
import { sqlStateOf } from '../rows/sql-state.ts';
import { unlessAborted } from './unless-aborted.ts';

/**
 * Standbys of the primary. A standby is read only if it has replayed every change that this process was notified of.
 * Notifications come from the primary: after each, the primary is read until a standby has the change.
 */
export interface Replicas extends Reader {
  /**
   * A reader whose statements never see less than those before: it stays with one standby, or with the primary from the
   * first time it needs it.
   */
  together(): Reader;
  /** Something has changed on the primary. Takes effect at once. */
  changed(): void;
  /**
   * Notifications are received, or (`-1`) no longer. While there is no listener, or one of them may miss changes, the
   * primary is read.
   */
  heard(by: 1 | -1): void;
  /** Changes may be missed from now on, or (`-1`) are received again. */
  deaf(by: 1 | -1): void;
  close(): Promise<void>;
}

/** A standby as it is read, and `probe`, of one connection, for looking where it is. */
export interface ReplicaPools extends Reader {
  probe: pg.Pool;
  /** Its address, without what is secret in it. */
  shown: string;
  close(): Promise<void>;
}

interface Replica extends ReplicaPools {
  /** The last change it has; `changes` when it has all. */
  has: number;
  away: boolean;
  /** Aborted when it goes away: what it was asked is asked of the primary. */
  gone: AbortController;
}

const shortestPauseMs = 5;
const longestPauseMs = 250;
/** Interval at which a replica that has everything, or is away, is looked at, ms. */
const idleMs = 1000;
/** Longest time in which it says where it is, ms. */
const patienceMs = 2000;

// PostgreSQL's codes: a statement ended by its time limit; the class of those of a server that ends.
const tookTooLong = '57014';
const serverEnds = '57P';

function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

async function one<Row>(pool: pg.Pool, text: string, values: unknown[] = []): Promise<Row> {
  // A limit of its own: the store's is for statements that do something, and may be none.
  const { rows } = await pool.query({ text, values, query_timeout: patienceMs } as pg.QueryConfig);
  return rows[0] as Row;
}

// A position, and which cluster's it is: another's says nothing.
const primaryText =
  'SELECT pg_current_wal_insert_lsn()::text AS lsn, (SELECT system_identifier::text FROM pg_control_system()) AS cluster';
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

interface PrimaryState {
  lsn: string;
  cluster: string;
}

/**
 * Reads from `pools` where that shows nothing old, else from `primary`. `log` is called when one becomes unusable and
 * when it is used again, once each.
 */
export function openReplicas(
  { primary, pool }: { primary: Reader; pool: pg.Pool },
  pools: readonly ReplicaPools[],
  log: (line: string) => void,
): Replicas {
  const replicas = pools.map((each): Replica => ({ ...each, has: 0, away: false, gone: new AbortController() }));
  let changes = 1;
  let hearing = 0;
  let deafness = 0;
  let turn = 0;
  let closed = false;
  let target: { of: number; state: Promise<PrimaryState> } | null = null;
  let wake = Promise.withResolvers<void>();

  /** The position of the primary after the last notified change. */
  function reachedByPrimary(): Promise<PrimaryState> {
    if (target?.of !== changes) target = { of: changes, state: quiet(one<PrimaryState>(pool, primaryText)) };
    return target.state;
  }

  function leave(replica: Replica, reason: string): void {
    if (replica.away || closed) return;
    replica.away = true;
    replica.has = 0;
    replica.gone.abort(new Error(reason));
    replica.gone = new AbortController();
    log(`warning: the read replica ${replica.shown} of DATABASE_READ_URLS is not used: ${reason}`);
  }

  function takeBack(replica: Replica): void {
    if (!replica.away) return;
    replica.away = false;
    log(`the read replica ${replica.shown} is used again`);
  }

  async function lookAt(replica: Replica): Promise<void> {
    const aim = changes;
    let state: PrimaryState;
    try {
      state = await reachedByPrimary();
    } catch {
      // The primary is away, which says nothing of its standby.
      if (target?.of === aim) target = null;
      return;
    }
    try {
      const said = await one<StandbyState>(replica.probe, standbyText, [state.lsn]);
      if (!said.standby) leave(replica, 'it is not a standby');
      else if (said.cluster !== state.cluster) leave(replica, 'it is a standby of another server');
      else if (said.asksStandbys)
        // Its position says nothing of theirs.
        leave(replica, 'it reads standbys of the workers: set citus.use_secondary_nodes to never');
      else {
        takeBack(replica);
        if (said.reached) replica.has = aim;
      }
    } catch (error) {
      leave(replica, connectionFailure(error));
    }
  }

  async function follow(replica: Replica): Promise<void> {
    let pauseMs = shortestPauseMs;
    while (!closed) {
      const before = changes;
      await lookAt(replica);
      const settled = replica.away || replica.has === changes;
      pauseMs = settled || before !== changes ? shortestPauseMs : Math.min(2 * pauseMs, longestPauseMs);
      if (!closed)
        await Promise.race([
          delay(settled ? idleMs : pauseMs, undefined, { ref: false }),
          ...(settled ? [wake.promise] : []),
        ]);
    }
  }

  const isReadable = (replica: Replica) => !replica.away && replica.has === changes && hearing > 0 && deafness === 0;

  function pick(): Replica | null {
    for (let tries = 0; tries < replicas.length; tries++) {
      const replica = replicas[turn++ % replicas.length]!;
      if (isReadable(replica)) return replica;
    }
    return null;
  }

  /** Asks a standby; null when it could not answer, and the primary is to be asked. */
  async function ask<T>(replica: Replica, read: (from: Reader) => Promise<T>): Promise<{ answer: T } | null> {
    const asked = quiet(read(replica));
    try {
      return { answer: await unlessAborted(asked, replica.gone.signal) };
    } catch (error) {
      const code = sqlStateOf(error);
      // A statement that takes too long here would there too.
      if (code === tookTooLong) throw error;
      // An error of the server itself (a statement cancelled by what it replays, one that is wrong) is no reason to
      // leave it, but that it ends.
      if (code === null || code.startsWith(serverEnds)) leave(replica, reasonOf(error as Error));
      return null;
    }
  }

  /** A reader that asks `choose` for each read; `missed` is called if the read failed there. */
  function reader(choose: () => Replica | null, missed: () => void = () => {}): Reader {
    const read = async <T>(reading: (from: Reader) => Promise<T>): Promise<T> => {
      const replica = choose();
      const asked = replica && (await ask(replica, reading));
      if (asked) return asked.answer;
      missed();
      return reading(primary);
    };
    return {
      routing: primary.routing,
      query: (statement, values) => read((from) => from.query(statement, values)),
      prisma: modelsThrough((call) => read((from) => call(from.prisma))),
    };
  }

  const following = replicas.map(follow);
  return Object.assign(reader(pick), {
    together() {
      let stays = pick();
      const choose = () => {
        if (stays && !isReadable(stays)) stays = null;
        return stays;
      };
      return reader(choose, () => {
        stays = null;
      });
    },
    changed() {
      changes++;
      wake.resolve();
      wake = Promise.withResolvers<void>();
    },
    heard(by: number) {
      hearing += by;
    },
    deaf(by: number) {
      deafness += by;
    },
    async close() {
      closed = true;
      wake.resolve();
      for (const { gone } of replicas) gone.abort(new Error('the store is closed'));
      await Promise.all(replicas.map((replica) => replica.close()));
      await Promise.all(following);
    },
  });
}
