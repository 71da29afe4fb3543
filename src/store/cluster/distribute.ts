import pg from 'pg';
import { withSessionLock } from '../rows/advisory-lock.ts';
import type { Store } from '../rows/connection.ts';
import { storeError } from '../rows/store-error.ts';
import { type KnownPlacement, knownTables, placingSql } from './distribution.ts';

/** A table that was distributed. */
export interface DistributedTable {
  table: string;
  /** Its distribution column; null = it is on every node, or on the first only. */
  by: string | null;
  /** Size before, bytes. */
  bytes: number;
}

/** The table that is distributed next: the n-th of some, from 0. */
export interface DistributeProgress extends DistributedTable {
  index: number;
  tables: number;
}

interface TableState {
  table: string;
  /** Its type in Citus. `local`: on the first node, with metadata. */
  type: 'none' | 'local' | 'reference' | 'distributed' | 'other';
  by: string | null;
  colocation: number | null;
  bytes: number;
}

const stateText = `SELECT c.relname AS table, column_to_column_name(p.logicalrelid, p.partkey) AS by,
    p.colocationid AS colocation, pg_table_size(c.oid) AS bytes,
    CASE WHEN p.logicalrelid IS NULL THEN 'none' WHEN p.partmethod = 'h' THEN 'distributed'
      WHEN p.partmethod = 'n' AND p.repmodel = 't' THEN 'reference'
      WHEN p.partmethod = 'n' AND p.colocationid = 0 THEN 'local' ELSE 'other' END AS type
  FROM pg_class AS c LEFT JOIN pg_dist_partition AS p ON p.logicalrelid = c.oid
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = ANY($1)`;

const columnOf = (place: KnownPlacement) => (typeof place === 'string' ? null : place.by);

/**
 * Distributes every table over the nodes of a Citus cluster, by Citus's own functions: a transaction each. While it
 * runs nothing else may use the store (`requireAlone`): statements that join a distributed table and another fail.
 * Returns the newly distributed tables. The next run resumes a stopped one; of two that begin together one waits.
 */
export async function distribute(
  store: Store,
  { signal, onProgress }: { signal: AbortSignal; onProgress: (progress: DistributeProgress) => void },
): Promise<DistributedTable[]> {
  return withSessionLock(store, 'distribute', signal, async (client) => {
    const states = await tableStates(client);
    const missing = knownTables.filter(({ table, place }) => !hasItsPlace(states.get(table)!, place));
    let beside = [...states.values()].find(({ type }) => type === 'distributed')?.table ?? null;
    const done: DistributedTable[] = [];
    for (const { table, place } of missing) {
      signal.throwIfAborted();
      const next = { table, by: columnOf(place), bytes: states.get(table)!.bytes };
      onProgress({ ...next, index: done.length, tables: missing.length });
      await spread(client, table, place, beside);
      if (next.by !== null) beside ??= table;
      done.push(next);
    }
    return done;
  });
}

async function spread(client: pg.ClientBase, table: string, place: KnownPlacement, beside: string | null) {
  await client.query('BEGIN');
  await client.query(`SET LOCAL citus.multi_shard_modify_mode = 'sequential'`);
  await client.query(placingSql(table, place, beside));
  // The rows were copied to the nodes; nothing reads them here any more.
  if (place !== 'first node, known')
    await client.query('SELECT truncate_local_data_after_distributing_table($1)', [table]);
  await client.query('COMMIT');
}

/** True if a table is distributed as planned. Throws if it is distributed otherwise. */
function hasItsPlace({ table, type, by: found }: TableState, place: KnownPlacement): boolean {
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
  const { rows } = await client.query<TableState>(stateText, [knownTables.map(({ table }) => table)]);
  const colocations = new Map(
    rows.filter(({ type }) => type === 'distributed').map(({ table, colocation }) => [colocation, table]),
  );
  if (colocations.size > 1)
    throw storeError(
      `These tables are not colocated: ${[...colocations.values()].join(', ')}. Run "SELECT undistribute_table(…)" on those that were distributed by hand.`,
    );
  return new Map(rows.map((row) => [row.table, row]));
}

const extensionText = `SELECT (SELECT extversion FROM pg_extension WHERE extname = 'citus') AS installed,
  EXISTS (SELECT FROM pg_available_extensions WHERE name = 'citus') AS available`;

const nodesText = `SELECT nodename || ':' || nodeport AS shown, groupid = 0 AS "isCoordinator",
    isactive AND shouldhaveshards AS "takesShards", nodeid AS id
  FROM pg_dist_node WHERE noderole = 'primary' ORDER BY nodeid`;

const versionsText = `SELECT nodeid AS id, success, result FROM run_command_on_all_nodes(
  $$SELECT extversion FROM pg_extension WHERE extname = 'citus'$$)`;

const othersText = `SELECT count(*)::int AS others FROM pg_stat_activity
  WHERE datname = current_database() AND application_name LIKE 'tapegraph%'`;

type Queries = Pick<pg.Client, 'query'>;

/**
 * Throws unless the database is the coordinator of a Citus cluster that is ready for tables, and no other process of
 * ours uses it. Call it before the store is opened: migrating a worker by itself would create tables that conflict
 * later.
 */
export async function requireAlone(databaseUrl: string | null): Promise<void> {
  if (databaseUrl === null)
    throw storeError('DATABASE_URL is not set. The embedded store is one server; Citus needs servers of its own.');
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 10_000 });
  try {
    await client.connect();
  } catch (error) {
    throw storeError(`The database of DATABASE_URL cannot be used: ${(error as Error).message}`, error);
  }
  try {
    await requireNodes(client);
    const { rows } = await client.query<{ others: number }>(othersText);
    if (rows[0]!.others > 0)
      throw storeError(
        `The store is in use: ${rows[0]!.others} connections of serve, follow, ingest or another command. Stop them all; tables are distributed while nothing reads or writes them.`,
      );
  } finally {
    await client.end();
  }
}

async function requireNodes(pool: Queries): Promise<void> {
  await requireExtension(pool);
  const { rows: local } = await pool.query<{ groupid: number }>('SELECT groupid FROM pg_dist_local_group');
  if (local[0]!.groupid !== 0)
    throw storeError('DATABASE_URL is a worker of the Citus cluster; expected its coordinator.');
  const { rows: nodes } = await pool.query<{ isCoordinator: boolean; takesShards: boolean }>(nodesText);
  if (!nodes.some(({ isCoordinator }) => isCoordinator))
    throw storeError(
      `The coordinator has no address. Run "SELECT citus_set_coordinator_host('coordinator', 5432)" with the name by which workers reach it.`,
    );
  if (!nodes.some(({ takesShards }) => takesShards))
    throw storeError(
      `The Citus cluster has no active worker. Create the database and the extension citus on each, and run "SELECT citus_add_node('worker-1', 5432)" on the coordinator.`,
    );
  const versions = await nodeVersions(pool);
  if (new Set(versions.map(({ citus }) => citus)).size > 1)
    throw storeError(
      `The nodes have different versions of Citus: ${versions.map(({ shown, citus }) => `${shown} ${citus}`).join(', ')}. Update them all, and run "ALTER EXTENSION citus UPDATE" on each.`,
    );
}

async function requireExtension(pool: Queries): Promise<void> {
  const { rows } = await pool.query<{ installed: string | null; available: boolean }>(extensionText);
  const { installed, available } = rows[0]!;
  if (installed === null)
    throw storeError(
      available
        ? 'The database has no extension citus. Add citus to shared_preload_libraries of every node, restart them, and run "CREATE EXTENSION citus" in this database on each.'
        : 'The server of DATABASE_URL has no extension citus. Install Citus on every node, add citus to shared_preload_libraries, restart them, and run "CREATE EXTENSION citus" in this database on each.',
    );
  const [major, minor] = installed.split(/[.-]/).map(Number);
  if (major! < 11 || (major === 11 && minor! < 1))
    throw storeError(`Citus ${installed} is too old; expected 11.1 or later.`);
}

/** The version of Citus on each node, e.g. `13.2-1`. */
async function nodeVersions(pool: Queries): Promise<{ shown: string; citus: string }[]> {
  const { rows: nodes } = await pool.query<{ id: number; shown: string }>(nodesText);
  const { rows: answers } = await pool.query<{ id: number; success: boolean; result: string }>(versionsText);
  return nodes.map(({ id, shown }) => {
    const answer = answers.find((each) => each.id === id);
    if (!answer?.success)
      throw storeError(`The node ${shown} cannot be used: ${answer?.result ?? 'it gave no answer'}`);
    return { shown, citus: answer.result };
  });
}
