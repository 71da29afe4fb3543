import type pg from 'pg';

/** Modes in which tables are taken, the weakest first. */
export type TableLock = 'SHARE ROW EXCLUSIVE' | 'EXCLUSIVE' | 'ACCESS EXCLUSIVE';

// PostgreSQL looks for deadlocks when a session has waited for a second (`deadlock_timeout`).
const allWithinMs = 400;

/**
 * Takes tables until the transaction ends, all of them or none: fails with `lock_not_available` when it has waited for
 * them for too long in all. `lock_timeout` alone bounds each table: whoever holds the last of them, and has waited for
 * the first since then, would be ended for a deadlock. For the same reason take the strongest lock at once: whoever has
 * read a table and waits to write it is in the way of a stronger one.
 */
export async function lockTables(client: pg.ClientBase, tables: readonly string[], mode: TableLock): Promise<void> {
  const endMs = performance.now() + allWithinMs;
  for (const table of tables) {
    // 0 would be no limit.
    const leftMs = Math.max(1, Math.floor(endMs - performance.now()));
    await client.query(`SET LOCAL lock_timeout = ${leftMs}`);
    await client.query(`LOCK TABLE ${table} IN ${mode} MODE`);
  }
}
