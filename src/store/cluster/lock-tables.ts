import type pg from 'pg';

/** Lock modes, the weakest first. */
export type TableLock = 'SHARE ROW EXCLUSIVE' | 'EXCLUSIVE' | 'ACCESS EXCLUSIVE';

// PostgreSQL checks for deadlocks when a session has waited for a second (`deadlock_timeout`).
const allWithinMs = 400;

/**
 * Locks tables until the transaction ends, all of them or none: fails with `lock_not_available` when the total wait is
 * too long. `lock_timeout` alone limits the wait per table: a transaction that holds the last table, and waits for the
 * first since then, would be ended by a deadlock. For the same reason take the strongest lock first: a transaction that
 * has read a table and waits to write it blocks a stronger lock.
 */
export async function lockTables(client: pg.ClientBase, tables: readonly string[], mode: TableLock): Promise<void> {
  const endMs = performance.now() + allWithinMs;
  for (const table of tables) {
    // 0 would mean no limit.
    const leftMs = Math.max(1, Math.floor(endMs - performance.now()));
    await client.query(`SET LOCAL lock_timeout = ${leftMs}`);
    await client.query(`LOCK TABLE ${table} IN ${mode} MODE`);
  }
}
