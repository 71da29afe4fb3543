import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { storeError } from '../rows/store-error.ts';
import type { DataVersions } from '../versions/data-versions.ts';

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
export async function settled(pool: pg.Pool): Promise<void> {
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
export interface Settling {
  /**
   * Reports that there may be one: nothing is cached from now on until there is none. Resolves after the first check.
   */
  doubt(): Promise<void>;
  /** Ends the watch; call it before the store is closed. */
  stop(): Promise<void>;
}

/** Watches a store on several nodes; one on a single node has no such transactions. */
export function watchSettling(
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
