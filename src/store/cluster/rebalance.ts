import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Store } from '../rows/connection.ts';
import { storeError } from '../rows/store-error.ts';
import { requireReplication } from './cluster-checks.ts';

export interface RebalanceOptions {
  /** True to move shards in a way that blocks their writers. */
  blockWrites: boolean;
  signal: AbortSignal;
  /** Number of moved groups of colocated shards, and of all to move. */
  onProgress: (moved: number, moves: number) => void;
}

const runningText = `SELECT max(job_id) AS job FROM pg_dist_background_job
  WHERE job_type = 'rebalance' AND state IN ('scheduled', 'running', 'failing', 'cancelling')`;
const tasksText = `SELECT job.state::text, count(task.task_id)::int AS moves,
    (count(task.task_id) FILTER (WHERE task.status = 'done'))::int AS moved,
    max(task.message) FILTER (WHERE task.status = 'error') AS error
  FROM pg_dist_background_job AS job LEFT JOIN pg_dist_background_task AS task USING (job_id)
  WHERE job_id = $1 GROUP BY job.job_id`;

interface JobState {
  state: string;
  moves: number;
  moved: number;
  error: string | null;
}

const watchMs = 500;

/**
 * Moves shards until the nodes of the cluster hold similar amounts, under concurrent reads and writes. Returns the
 * number of moved groups of colocated shards. The coordinator runs it: it continues when the signal is aborted, and
 * when this process is killed; the next call joins it.
 */
export async function rebalance({ pool }: Store, options: RebalanceOptions): Promise<number> {
  if (!options.blockWrites) await requireReplication(pool);
  const job = (await runningJob(pool)) ?? (await startJob(pool, options.blockWrites));
  if (job === null) return 0;
  for (;;) {
    const { rows } = await pool.query<JobState>(tasksText, [job]);
    const { state, moves, moved, error } = rows[0]!;
    options.onProgress(moved, moves);
    if (state === 'finished') return moved;
    if (state === 'failed' || state === 'cancelled')
      throw storeError(`The rebalance ${state} after ${moved} of ${moves} moves${error === null ? '' : `: ${error}`}`);
    await delay(watchMs, undefined, { signal: options.signal });
  }
}

async function runningJob(pool: pg.Pool): Promise<number | null> {
  const { rows } = await pool.query<{ job: number | null }>(runningText);
  return rows[0]!.job;
}

/** Null: there is nothing to move. */
async function startJob(pool: pg.Pool, blockWrites: boolean): Promise<number | null> {
  const mode = blockWrites ? 'block_writes' : 'force_logical';
  const { rows } = await pool.query<{ job: number | null }>(
    'SELECT citus_rebalance_start(shard_transfer_mode => $1) AS job',
    [mode],
  );
  return rows[0]!.job;
}
