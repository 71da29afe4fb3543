import type pg from 'pg';

/**
 * Number of statements that wait for a lock in the store's own database: the tests share a server, and databases copied
 * from one template have the same oids for their tables.
 */
export async function waitingForLocks(connection: pg.Pool | pg.ClientBase, table?: string): Promise<number> {
  const here = `(select oid from pg_database where datname = current_database())`;
  const { rows } = await connection.query(
    `select count(*)::int as count from pg_locks where not granted and database = ${here}
       and ($1::text is null or relation = to_regclass($1))`,
    [table ?? null],
  );
  return rows[0].count;
}
