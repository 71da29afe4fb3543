import type pg from 'pg';
import { oneNode } from '../cluster/routing.ts';
import type { Store } from './connection.ts';
import type { Reader } from './reader.ts';
import { statement } from './statement.ts';

const grown = statement('market/grown-tables', {}, { name: 'text' });

/**
 * Analyzes tables that have more than doubled. Connections reuse their plans: for a table that was empty then, they
 * read every row, until autovacuum analyzes it, a minute or more later. Called after a commit; a failure is not thrown,
 * since the data is stored.
 */
export async function analyzeGrown({ pool }: Pick<Store, 'pool'>): Promise<void> {
  try {
    const names = await grownTables(pool);
    if (names.length > 0) await pool.query(`ANALYZE (SKIP_LOCKED) ${names.join(', ')}`);
  } catch {
    // The next commit tries again.
  }
}

/** Does not wait for holders of an exclusive table lock. */
async function grownTables(pool: pg.Pool): Promise<string[]> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query(`BEGIN; SET LOCAL lock_timeout = '100ms'`);
    const tables = await grown.rows({ query: client.query.bind(client) as Reader['query'], routing: oneNode }, {});
    return tables.map(({ name }) => name);
  } finally {
    await client.query('ROLLBACK').catch((error: Error) => {
      broken = error;
    });
    client.release(broken);
  }
}
