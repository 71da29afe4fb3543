import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { withSessionLock } from '../rows/advisory-lock.ts';
import type { Store } from '../rows/connection.ts';
import { sqlStateOf } from '../rows/sql-state.ts';
import { storeError } from '../rows/store-error.ts';
import { joinedTables, tablePlacements } from './distribution.ts';
import { lockTables } from './lock-tables.ts';
import { copiesSchema, OnlineCopy } from './online-copy.ts';

/** A table that was distributed. */
export interface DistributedTable {
  table: string;
  /** Its distribution column; null = it is on every node, or on the first only. */
  by: string | null;
  /** Size before, bytes. */
  bytes: number;
  /** True if it was copied under concurrent writes. */
  online: boolean;
}

export interface DistributeProgress {
  table: string;
  /** Index of the table, from 0, among `tables`. */
  index: number;
  tables: number;
  bytes: number;
  /** Bytes copied to the workers; null = unknown. */
  copied: number | null;
  /** Reason for waiting; null = none. */
  waitsFor: 'another run' | 'writers' | null;
}

export interface DistributeOptions {
  /** True to copy every table in one transaction, which blocks its writers. */
  blockWrites: boolean;
  signal: AbortSignal;
  onProgress: (progress: DistributeProgress) => void;
}

interface TableState {
  table: string;
  /** Its type in Citus. `local`: on the first node, with metadata. */
  type: 'none' | 'local' | 'reference' | 'distributed' | 'other';
  by: string | null;
  colocation: number | null;
  bytes: number;
  /** Bytes of copied rows that nothing reads any more. */
  leftBytes: number;
}

const stateText = `SELECT c.relname AS table, column_to_column_name(p.logicalrelid, p.partkey) AS by,
    p.colocationid AS colocation,
    CASE WHEN p.logicalrelid IS NULL THEN 'none' WHEN p.partmethod = 'h' THEN 'distributed'
      WHEN p.partmethod = 'n' AND p.repmodel = 't' THEN 'reference'
      WHEN p.partmethod = 'n' AND p.colocationid = 0 THEN 'local' ELSE 'other' END AS type,
    pg_table_size(c.oid) + coalesce((SELECT sum(pg_table_size(to_regclass(
      format('%I.%I', current_schema(), c.relname || '_' || s.shardid)))) FROM pg_dist_shard AS s
      WHERE s.logicalrelid = c.oid), 0)::bigint AS bytes,
    pg_relation_size(c.oid) AS "leftBytes"
  FROM pg_class AS c LEFT JOIN pg_dist_partition AS p ON p.logicalrelid = c.oid
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = ANY($1)`;

// Shards that are being filled belong to no table yet: their names contain the table's.
const copiedText = `SELECT sum(result::bigint)::bigint AS copied FROM run_command_on_workers(format(
  $$SELECT coalesce(sum(pg_table_size(oid)), 0) FROM pg_class WHERE relkind = 'r' AND relname ~ %L$$,
  '^' || $1 || '_[0-9]+$')) WHERE success`;

const lockNotAvailable = '55P03';
const deadlock = '40P01';
const progressMs = 500;

type Place = { by: string } | 'everywhere' | 'first node, known';
const placed = Object.entries(tablePlacements).flatMap(([table, place]) =>
  place === 'first node' ? [] : [{ table, place }],
);

/**
 * Distributes every table over the nodes of a Citus cluster, under concurrent reads and writes. Returns the newly
 * distributed ones. The next run resumes a stopped one; of two concurrent runs one waits for the other.
 */
export async function distribute(store: Store, options: DistributeOptions): Promise<DistributedTable[]> {
  const { pool } = store;
  const onWait = () =>
    options.onProgress({ table: '', index: 0, tables: 1, bytes: 0, copied: null, waitsFor: 'another run' });
  return withSessionLock(store, 'distribute', { onWait, signal: options.signal }, async (client) => {
    await store.cluster.announce(client);
    const { rows } = await client.query<{ schema: string }>('SELECT quote_ident(current_schema()) AS schema');
    const schema = rows[0]!.schema;
    const tables = await missingTables(client, options);
    let index = 0;
    for (const step of stepsOf(tables)) {
      options.signal.throwIfAborted();
      const progress = { ...step[0]!, index, tables: tables.length, copied: null, waitsFor: null };
      const job = { pool, client, schema, signal: options.signal, onProgress: options.onProgress, progress };
      if (step[0]!.online) await copyOnline(job, step);
      else await copyAtOnce(job, step);
      index += step.length;
    }
    await removeCopied(client, options);
    await client.query(`DROP SCHEMA IF EXISTS ${copiesSchema(schema)} CASCADE`);
    return tables.map(({ table, place, bytes, online }) => ({ table, by: columnOf(place), bytes, online }));
  });
}

interface MissingTable {
  table: string;
  place: Place;
  bytes: number;
  online: boolean;
}

const columnOf = (place: Place) => (typeof place === 'string' ? null : place.by);

/** The tables in order. Those of a group are distributed together. */
function stepsOf(tables: readonly MissingTable[]): MissingTable[][] {
  const groupOf = (table: string) => joinedTables.find((group) => group.includes(table))?.[0] ?? table;
  const steps = [...Map.groupBy(tables, ({ table }) => groupOf(table)).values()];
  return steps.map((step) => (step.every(({ online }) => online) ? step : step.map(atOnce)));
}

const atOnce = (table: MissingTable): MissingTable => ({ ...table, online: false });

async function missingTables(client: pg.ClientBase, { blockWrites }: DistributeOptions): Promise<MissingTable[]> {
  const states = await tableStates(client);
  return placed
    .filter(({ table, place }) => !hasItsPlace(states.get(table)!, place))
    .map(({ table, place }) => {
      const { bytes, type } = states.get(table)!;
      return { table, place, bytes, online: typeof place === 'object' && type === 'none' && !blockWrites };
    });
}

/** True if a table is distributed as planned. Throws if it is distributed otherwise. */
function hasItsPlace({ table, type, by: found }: TableState, place: Place): boolean {
  const by = columnOf(place);
  const expected = by !== null ? 'distributed' : place === 'everywhere' ? 'reference' : 'local';
  if (type === expected && found === by) return true;
  // Citus has metadata of an undistributed table: a stopped run of an earlier release left it.
  if (type === 'none' || type === 'local') return false;
  throw storeError(
    `The table ${table} is ${type}${found === null ? '' : ` by ${found}`} in Citus; expected ${expected}${by === null ? '' : ` by ${by}`}. Run "SELECT undistribute_table('${table}')" first.`,
  );
}

async function tableStates(client: pg.ClientBase): Promise<Map<string, TableState>> {
  const { rows } = await client.query<TableState>(stateText, [placed.map(({ table }) => table)]);
  const colocations = new Map(
    rows.filter(({ type }) => type === 'distributed').map(({ table, colocation }) => [colocation, table]),
  );
  if (colocations.size > 1)
    throw storeError(
      `These tables are not colocated: ${[...colocations.values()].join(', ')}. Run "SELECT undistribute_table(…)" on those that were distributed by hand.`,
    );
  return new Map(rows.map((row) => [row.table, row]));
}

interface Job {
  pool: pg.Pool;
  client: pg.PoolClient;
  schema: string;
  signal: AbortSignal;
  onProgress: DistributeOptions['onProgress'];
  progress: DistributeProgress;
}

/** A distributed table, whose shards others are colocated with. */
async function leaderOf(client: pg.ClientBase): Promise<string> {
  const states = [...(await tableStates(client)).values()];
  return states.find(({ type }) => type === 'distributed')?.table ?? 'default';
}

async function copyAtOnce(job: Job, tables: readonly MissingTable[]): Promise<void> {
  const leader = await leaderOf(job.client);
  await briefly(job, async () => {
    // Readers of copied rows continue; a table that Citus will manage replaces another.
    const isRead = tables.every(({ place }) => place !== 'first node, known');
    const names = tables.map(({ table }) => `${job.schema}.${table}`);
    await lockTables(job.client, names, isRead ? 'EXCLUSIVE' : 'ACCESS EXCLUSIVE');
    for (const { table, place } of tables)
      if (place === 'everywhere') await job.client.query('SELECT create_reference_table($1)', [table]);
      else if (typeof place === 'string')
        await job.client.query('SELECT citus_add_local_table_to_metadata($1)', [table]);
      else
        await job.client.query('SELECT create_distributed_table($1, $2, colocate_with => $3)', [
          table,
          place.by,
          leader,
        ]);
  });
}

async function copyOnline(job: Job, tables: readonly MissingTable[]): Promise<void> {
  const { client, schema, signal } = job;
  const spread = tables.map(({ table, place }) => ({ table, by: columnOf(place)! }));
  const copy = new OnlineCopy(client, schema, spread);
  await copy.requireFree();
  if (!(await copy.isBegun())) {
    await briefly(job, () => copy.dropLeft());
    await copy.make(await leaderOf(client));
    await briefly(job, () => copy.begin());
  }
  for (const [i, { table, bytes }] of tables.entries()) {
    const progress = { ...job.progress, table, bytes, index: job.progress.index + i };
    await watched({ ...job, progress }, () => copy.copy(table, signal));
  }
  await copy.catchUp(signal);
  await briefly(job, () => copy.takePlace());
}

/**
 * Runs work that requires exclusive tables (`lockTables`), in one transaction. If it has waited too long, before a
 * writer would be ended by a deadlock with it, it lets queued transactions go first.
 */
async function briefly(
  { client, signal, onProgress, progress }: Pick<Job, 'client' | 'signal' | 'onProgress' | 'progress'>,
  work: () => Promise<unknown>,
): Promise<void> {
  onProgress(progress);
  for (;;)
    try {
      await client.query('BEGIN');
      await client.query(`SET LOCAL lock_timeout = '500ms'`);
      await client.query(`SET LOCAL citus.multi_shard_modify_mode = 'sequential'`);
      await work();
      await client.query('COMMIT');
      return;
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {});
      const code = sqlStateOf(error);
      if (code !== lockNotAvailable && code !== deadlock) throw error;
      onProgress({ ...progress, waitsFor: 'writers' });
      await delay(progressMs, undefined, { signal });
    }
}

async function watched(job: Job, work: () => Promise<void>): Promise<void> {
  const ended = new AbortController();
  const watching = watchCopy(job, ended.signal);
  try {
    await work();
  } finally {
    ended.abort();
    await watching;
  }
}

async function watchCopy({ pool, onProgress, progress }: Job, ended: AbortSignal): Promise<void> {
  while (!ended.aborted) {
    const { rows } = await pool
      .query<{ copied: number | null }>(copiedText, [progress.table])
      .catch(() => ({ rows: [] }));
    if (!ended.aborted) onProgress({ ...progress, copied: rows[0]?.copied ?? null });
    await delay(progressMs, undefined, { signal: ended }).catch(() => {});
  }
}

/** Frees the space of rows that were copied to the nodes. */
async function removeCopied(client: pg.PoolClient, { signal, onProgress }: DistributeOptions): Promise<void> {
  const states = [...(await tableStates(client)).values()];
  const left = states.filter(
    ({ type, leftBytes }) => leftBytes > 0 && (type === 'distributed' || type === 'reference'),
  );
  for (const [index, { table, leftBytes: bytes }] of left.entries()) {
    const progress = { table, index, tables: left.length, bytes, copied: bytes, waitsFor: null };
    await briefly({ client, signal, onProgress, progress }, () =>
      client.query('SELECT truncate_local_data_after_distributing_table($1)', [table]),
    );
  }
}
