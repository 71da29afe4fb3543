import type { Store } from '../rows/connection.ts';
import { isKept, supersededTable } from '../rows/models/kept-models.ts';
import { allModels, tableOf } from '../rows/models/model-tables.ts';
import { readKnownFrom } from './generation.ts';

/** Space of a table, with its indexes. */
export interface TableSize {
  table: string;
  bytes: number;
  /** Space of the rows that later generations replaced, and their number; null = such rows are not kept. */
  superseded: { bytes: number; rows: number } | null;
}

/** Space of the store. */
export interface StoreSize {
  /** By size, the largest first. */
  tables: TableSize[];
  /** First instant of knowledge whose data is stored whole, epoch ms; null = all is. */
  knownFromMs: number | null;
}

const isDistributed = `EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')`;

/** Measures the tables of the store; those on other nodes too. */
export async function readStoreSize(store: Store): Promise<StoreSize> {
  const { pool } = store;
  const { rows } = await pool.query<{ found: boolean }>(`SELECT ${isDistributed} AS found`);
  const sizeText = rows[0]!.found
    ? `CASE WHEN EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = $1::regclass)
         THEN citus_total_relation_size($1::regclass) ELSE pg_total_relation_size($1::regclass) END`
    : 'pg_total_relation_size($1::regclass)';
  const bytesOf = async (table: string) =>
    (await pool.query<{ bytes: number }>(`SELECT ${sizeText}::int8 AS bytes`, [table])).rows[0]!.bytes;
  const rowsOf = async (table: string) =>
    (await pool.query<{ count: number }>(`SELECT count(*) AS count FROM ${table}`)).rows[0]!.count;
  const tables: TableSize[] = [];
  for (const model of allModels) {
    const { table } = tableOf(model);
    const kept = isKept(model) ? supersededTable(model) : null;
    const superseded = kept === null ? null : { bytes: await bytesOf(kept), rows: await rowsOf(kept) };
    tables.push({ table, bytes: await bytesOf(table), superseded });
  }
  tables.sort((a, b) => b.bytes - a.bytes);
  return { tables, knownFromMs: await readKnownFrom(store) };
}
