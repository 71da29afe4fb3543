import type pg from 'pg';
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
