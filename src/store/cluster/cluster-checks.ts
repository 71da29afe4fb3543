import pg from 'pg';
import { storeError } from '../rows/store-error.ts';

/** Settings of a node. */
interface NodeSettings {
  /** Version of the extension, e.g. `13.2-1`; null = the node's database has none. */
  citus: string | null;
  walLevel: string;
  /** Libraries that may decode the log for others; null if PostgreSQL does not restrict or report them. */
  outputPlugins: string | null;
}

const extensionText = `SELECT (SELECT extversion FROM pg_extension WHERE extname = 'citus') AS installed,
  EXISTS (SELECT FROM pg_available_extensions WHERE name = 'citus') AS available`;

const nodesText = `SELECT nodename || ':' || nodeport AS shown, groupid = 0 AS "isCoordinator",
    isactive AND shouldhaveshards AS "takesShards", nodeid AS id
  FROM pg_dist_node WHERE noderole = 'primary' ORDER BY nodeid`;

const settingsText = `SELECT nodeid AS id, success, result FROM run_command_on_all_nodes($$
  SELECT json_build_object('citus', (SELECT extversion FROM pg_extension WHERE extname = 'citus'),
    'walLevel', current_setting('wal_level'), 'outputPlugins', CASE
      WHEN pg_has_role('pg_read_all_settings', 'USAGE') THEN current_setting('output_plugin_libraries', true) END)$$)`;

type Queries = Pick<pg.Client, 'query'>;

/**
 * Throws unless the database is the coordinator of a Citus cluster that is ready for tables. Call it before the store
 * is opened: migrating a worker by itself would create tables that conflict later.
 */
export async function requireCluster(databaseUrl: string | null): Promise<void> {
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
  const settings = await nodeSettings(pool);
  const versions = new Set(settings.map(({ citus }) => citus));
  if (versions.size > 1)
    throw storeError(
      `The nodes have different versions of Citus: ${settings.map(({ shown, citus }) => `${shown} ${citus}`).join(', ')}. Update them all, and run "ALTER EXTENSION citus UPDATE" on each.`,
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

async function nodeSettings(pool: Queries): Promise<(NodeSettings & { shown: string })[]> {
  const { rows: nodes } = await pool.query<{ id: number; shown: string }>(nodesText);
  const { rows: answers } = await pool.query<{ id: number; success: boolean; result: string }>(settingsText);
  return nodes.map(({ id, shown }) => {
    const answer = answers.find((each) => each.id === id);
    if (!answer?.success)
      throw storeError(`The node ${shown} cannot be used: ${answer?.result ?? 'it gave no answer'}`);
    return { shown, ...(JSON.parse(answer.result) as NodeSettings) };
  });
}

/** Throws unless shards can be copied between nodes by logical replication, under concurrent writes. */
export async function requireReplication(pool: Queries): Promise<void> {
  for (const { shown, walLevel, outputPlugins } of await nodeSettings(pool)) {
    const missing =
      walLevel !== 'logical'
        ? `wal_level is ${walLevel}: set it to logical and restart the node`
        : outputPlugins !== null && !outputPlugins.split(/[\s",]+/).includes('citus')
          ? `output_plugin_libraries is ${outputPlugins}: add citus and reload the node's settings`
          : null;
    if (missing !== null)
      throw storeError(
        `The node ${shown} cannot move shards while they are written: ${missing}, or use --block-writes.`,
      );
  }
}
